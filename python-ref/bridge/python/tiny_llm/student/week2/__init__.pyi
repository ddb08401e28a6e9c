from . import attention as attention
from . import blocks as blocks
from . import cache as cache
from . import generate as generate
from . import model as model

from . import layout as layout
from . import product as product

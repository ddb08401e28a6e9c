from . import engine as engine
from . import request as request
from . import slots as slots
from . import stop as stop

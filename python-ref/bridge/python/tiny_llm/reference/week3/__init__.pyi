from . import engine as engine
from . import paged as paged
from . import parts as parts
from . import pool as pool
from . import request as request
from . import slots as slots
from . import stop as stop

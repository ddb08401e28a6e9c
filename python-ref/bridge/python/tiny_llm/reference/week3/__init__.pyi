from . import engine as engine
from . import request as request
from . import scheduler as scheduler
from . import slots as slots
from . import stop as stop
from . import timeline as timeline

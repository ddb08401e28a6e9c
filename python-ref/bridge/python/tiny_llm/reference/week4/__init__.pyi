from . import arena as arena
from . import backends as backends
from . import engine as engine
from . import graph as graph
from . import layout as layout
from . import mixture as mixture
from . import product as product
from . import streamed as streamed

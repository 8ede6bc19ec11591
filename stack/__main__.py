"""`python -m stack …` is `cogitave-query stack …`."""

import sys

from service.surfaces.command_line import main

sys.exit(main(["stack", *sys.argv[1:]]))

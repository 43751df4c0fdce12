"""The tests. Before anything loads numpy or torch: one thread of linear algebra, here and in the processes begun here.

Two would wait for each other by spinning, and take three times the processor time while other tests run beside them.
"""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import os

# Plugins of Hypothesis are those of packages that others here need, such as trio: no test uses one.
os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"

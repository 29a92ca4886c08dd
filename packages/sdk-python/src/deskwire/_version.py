"""Made by npm run generate: all packages have one version."""

__version__ = "0.1.0"

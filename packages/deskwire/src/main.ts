#!/usr/bin/env node
/** `deskwire` with its server: the command line finds the service that is installed next to it. */
import '@deskwire/cli/main'

/** What `deskwire serve` uses of the service: it loads the rest when the database has been begun. */
export { type Config, readConfig, settingsHelp } from './config.ts'
export { serve } from './main.ts'

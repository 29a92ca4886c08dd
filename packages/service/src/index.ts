/** The exports for the command line and for embedding programs. */
export * from './administration.ts'
export { createApp } from './app.ts'
export { serve } from './main.ts'
export { SettingError } from './roles/delivery-settings.ts'
export { ListenError } from './roles/listen.ts'

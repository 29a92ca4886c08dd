/** The theme that was chosen in the console, before anything is shown; without one, the system's. */
try {
  const theme = localStorage.getItem('deskwire.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Nothing is kept here: the system decides.
}

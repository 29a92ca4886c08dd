/** Loaded before a process: its machine's clock is five weeks behind. */
const fiveWeeks = 35 * 24 * 60 * 60 * 1000
const real = Date.now.bind(Date)
Date.now = () => real() - fiveWeeks

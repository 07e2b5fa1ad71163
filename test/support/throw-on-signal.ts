// Loaded into a daemon before its own code: SIGUSR2 causes an uncaught error.
process.on('SIGUSR2', () => {
  throw new Error('planted error');
});

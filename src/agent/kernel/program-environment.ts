/** The variables of a program of the host: those of this process, but its messages are English, since the agent tells some failures apart by them. */
export function programEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' };
}

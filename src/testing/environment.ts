/** Variables that set `kiln`, its clients or its colors: a developer's terminal may have them, and no test may depend on them. */
const SETTINGS = /^(?:KILN_(?!BENCH_)|OVN_|OVS_|KUBE)|^(?:NO_COLOR|FORCE_COLOR|NODE_TEST_CONTEXT)$/;

/**
 * The environment of the test's process without the settings of the developer's terminal: what a program that a test starts inherits. None
 * writes its journal into the host's directory.
 */
export function testEnvironment(): Readonly<Record<string, string>> {
  const kept = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined && !SETTINGS.test(entry[0]));
  return { ...Object.fromEntries(kept), KILN_JOURNAL: 'off' };
}

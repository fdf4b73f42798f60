/** The settings of a controller as text, for another program, maybe of another version. */
import { gcRulesProblem, isGcMode, isGcRule } from '../nb/gc-rules.ts';
import { isNeighbourPattern, neighboursProblem } from '../nb/neighbours.ts';
import { DEFAULT_SETTINGS, isGlobalOptionPolicy, isMisboundPolicy, isTenancy } from './settings.ts';
import type { Settings } from './settings.ts';

export function settingsText(settings: Settings): string {
  return JSON.stringify(settings);
}

/**
 * Ignores unknown settings, and fills in defaults for missing ones: the writer may have another version.
 * @returns undefined if the text is no JSON object, or a value has the wrong type
 */
export function parseSettings(text: string): Settings | undefined {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return undefined;
  const parsed = read as Readonly<Record<string, unknown>>;
  const known = Object.keys(DEFAULT_SETTINGS).filter((name) => name in parsed) as (keyof Settings)[];
  if (!known.every((name) => isValidSetting(name, parsed[name]))) return undefined;
  return { ...DEFAULT_SETTINGS, ...Object.fromEntries(known.map((name) => [name, parsed[name]])) };
}

function isValidSetting(name: keyof Settings, value: unknown): boolean {
  if (name === 'misbound') return typeof value === 'string' && isMisboundPolicy(value);
  if (name === 'tenancy') return typeof value === 'string' && isTenancy(value);
  if (name === 'globalOptions') return typeof value === 'string' && isGlobalOptionPolicy(value);
  if (name === 'networkType') return value === 'geneve' || value === 'vxlan' || value === 'stt';
  if (name === 'neighbours') return Array.isArray(value) && value.every(isNeighbourPattern) && neighboursProblem(value, []) === undefined;
  if (name === 'gc') return typeof value === 'string' && isGcMode(value);
  if (name === 'gcRules') return Array.isArray(value) && value.every(isGcRule) && gcRulesProblem(value) === undefined;
  if (Array.isArray(DEFAULT_SETTINGS[name])) return Array.isArray(value) && value.every((one) => typeof one === 'string');
  return typeof value === typeof DEFAULT_SETTINGS[name];
}

/** The settings of the controller in the chart: value `config`, its JSON schema, and what `deploy/controller.yaml` sets. */
import { Command } from 'commander';
import type { Option } from 'commander';
import type { Setting } from '../../src/cli/settings/configuration.ts';
import { acceptedBy, settingsOf } from '../../src/cli/settings/configuration.ts';
import { addStartOptions } from '../../src/cli/settings/start-options.ts';
import type { TemplateObject } from './template-file.ts';

/** Of a laboratory, or given by the chart itself. */
const NOT_IN_CHART: ReadonlySet<string> = new Set([
  ...['kubeconfig', 'context', 'inCluster', 'namespace', 'ovnNb', 'ovnCa', 'ovnCert', 'ovnKey'],
  ...['metricsTokenFile', 'webhookConfiguration', 'webhookSecret', 'webhook'],
]);

/** The settings that value `config` may have. */
export function chartSettings(): readonly Setting[] {
  return settingsOf(addStartOptions(new Command('start'))).filter(
    ({ key, option }) => !NOT_IN_CHART.has(key) && option.helpGroupHeading !== 'Laboratory:',
  );
}

/** The schema of value `config`: names, types and choices. Contents are checked by `kiln start`, which names what is wrong. */
export function settingsSchema(): object {
  return {
    type: 'object',
    description: 'Settings of the controller: docs/reference.md. The default is that of deploy/controller.yaml, else of the program.',
    additionalProperties: false,
    properties: Object.fromEntries(
      chartSettings().map(({ key, option }) => [key, { ...typeOf(option), description: descriptionOf(option) }]),
    ),
  };
}

function descriptionOf(option: Option): string {
  const accepted = acceptedBy(option);
  return `${option.description}${accepted === '' || option.argChoices !== undefined ? '' : ` (${accepted})`}`;
}

function typeOf({ required, optional, argChoices, defaultValue, defaultValueDescription, parseArg }: Option): object {
  if (argChoices !== undefined) return { type: 'string', enum: argChoices };
  if (!required && !optional) return { type: 'boolean' };
  if (typeof defaultValue === 'boolean') return { type: 'boolean' };
  if (typeof defaultValue === 'number' && defaultValueDescription === undefined) return { type: 'number' };
  if (parseArg !== undefined && 'isStructured' in parseArg) return { type: 'array', items: { type: 'object' } };
  if (Array.isArray(defaultValue) || parseArg?.name === 'hosts') return { type: ['string', 'array'], items: { type: 'string' } };
  return { type: 'string' };
}

/** What the manifest sets, by flag or by variable, as settings. Removes it there: the chart has all of it as variables. */
export function takeSettings(controller: TemplateObject, container: readonly (string | number)[]): Readonly<Record<string, string>> {
  const taken: Record<string, string> = {};
  const byName = (name: string): Setting => {
    const found = chartSettings().find(({ flag, variable }) => flag === name || variable === name);
    if (found === undefined) throw new Error(`deploy/controller.yaml sets ${name}, which is no setting of the chart`);
    return found;
  };
  const args = controller.get([...container, 'args']) as readonly string[];
  for (const at of args.keys().toArray().toReversed()) {
    const [, flag = '', value = ''] = /^(--[^=]+)=(.*)$/.exec(args[at] ?? '') ?? [];
    if (flag === '') continue;
    taken[byName(flag).key] = value;
    controller.remove([...container, 'args', at]);
  }
  const env = controller.get([...container, 'env']) as readonly { readonly name: string; readonly value?: string }[];
  for (const at of env.keys().toArray().toReversed()) {
    const { name, value } = env[at] ?? { name: '' };
    if (value === undefined || name.startsWith('KILN_OVN_')) continue;
    taken[byName(name).key] = value;
    controller.remove([...container, 'env', at]);
  }
  return taken;
}

/** Settings survive the round trip through text, also between versions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_SETTINGS } from './settings.ts';
import { parseSettings, settingsText } from './settings-text.ts';

const OWN = {
  ...DEFAULT_SETTINGS,
  defaultVpc: 'main',
  defaultExcludeIps: ['10.0.0.1..10.0.0.9'],
  enableLb: false,
  misbound: 'evict',
  tenancy: 'namespaced',
  globalOptions: 'always',
} as const;

test('parsing the text of settings returns the same settings', () => {
  assert.deepEqual(parseSettings(settingsText(OWN)), OWN);
});

test('a setting that only the other version has is ignored, one that it lacks has its default', () => {
  const { defaultVpc, joinSubnet } = OWN;
  assert.deepEqual(parseSettings(JSON.stringify({ defaultVpc, joinSubnet, invented: true })), {
    ...DEFAULT_SETTINGS,
    defaultVpc,
    joinSubnet,
  });
});

test('a text with one wrong value is rejected as a whole', () => {
  for (const text of [
    '',
    'main',
    '[]',
    'null',
    '{"defaultVpc":7}',
    '{"misbound":"never"}',
    '{"tenancy":"shut"}',
    '{"globalOptions":"sometimes"}',
    '{"networkType":"ipip"}',
    '{"defaultExcludeIps":"10.0.0.1"}',
  ])
    assert.equal(parseSettings(text), undefined, text);
});

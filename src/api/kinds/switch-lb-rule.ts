/** SwitchLBRule: a load balancer inside a Vpc, behind an address of its own. */

import { ageColumn, column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { list, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions, lbRulePort, strings } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  endpoints: strings('Addresses behind it, instead of selector'),
  namespace: string('Namespace of the pods behind it'),
  ports: list('Its ports', lbRulePort),
  selector: strings('Labels of the pods behind it as key:value'),
  sessionAffinity: string('None or ClientIP'),
  vip: string('Its address'),
});

const status = object('Observed state of the rule', {
  conditions,
  ports: string('Ports in use, such as 80/TCP'),
  service: string('Service made for it'),
});

export const switchLbRuleKind = defineKind({
  kind: 'SwitchLBRule',
  plural: 'switch-lb-rules',
  singular: 'switch-lb-rule',
  shortNames: ['slr'],
  scope: 'Cluster',
  description: 'A load balancer inside a Vpc',
  columns: [column('vip', '.spec.vip'), column('port(s)', '.status.ports'), column('service', '.status.service'), ageColumn('age')],
  subresources: { status: {} },
  spec,
  status,
});

export type SwitchLBRule = ObjectOf<typeof switchLbRuleKind>;
export type SwitchLBRuleSpec = TypeOf<typeof spec>;
export type SwitchLBRuleStatus = TypeOf<typeof status>;

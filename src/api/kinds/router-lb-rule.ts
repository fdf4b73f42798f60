/** RouterLBRule: a load balancer behind an external address of a Vpc. */

import { ageColumn, column, defineKind } from '../schema/kind.ts';
import type { ObjectOf } from '../schema/kind.ts';
import { list, object, string } from '../schema/schema.ts';
import type { TypeOf } from '../schema/schema.ts';
import { conditions, lbRulePort, strings } from '../schema/shapes.ts';

const spec = object('Desired state of the rule', {
  endpoints: strings('Addresses behind it, instead of selector'),
  namespace: string('Namespace of the pods behind it'),
  ovnEip: string('OvnEip that it answers on'),
  ports: list('Its ports', lbRulePort),
  selector: strings('Labels of the pods behind it as key:value'),
  sessionAffinity: string('None or ClientIP'),
  vpc: string('Vpc of the pods behind it'),
});

const status = object('Observed state of the rule', {
  conditions,
  ports: string('Ports in use, such as 80/TCP'),
  service: string('Service made for it'),
});

export const routerLbRuleKind = defineKind({
  kind: 'RouterLBRule',
  plural: 'router-lb-rules',
  singular: 'router-lb-rule',
  shortNames: ['rlr'],
  scope: 'Cluster',
  description: 'A load balancer behind an external address of a Vpc',
  columns: [
    column('ovnEip', '.spec.ovnEip'),
    column('vpc', '.spec.vpc'),
    column('port(s)', '.status.ports'),
    column('service', '.status.service'),
    ageColumn('age'),
  ],
  subresources: { status: {} },
  spec,
  status,
});

export type RouterLBRule = ObjectOf<typeof routerLbRuleKind>;
export type RouterLBRuleSpec = TypeOf<typeof spec>;
export type RouterLBRuleStatus = TypeOf<typeof status>;

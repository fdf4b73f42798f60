import type { Subnet } from '../../api/kinds/subnet.ts';
import type { ChangeEvent, KindEvents } from '../../controller/reports/kind-events.ts';
import type { PlannedEvent } from '../../diff/condition-diff.ts';

export const events: KindEvents = (delta) =>
  delta.type === 'upsert' && delta.before !== undefined
    ? gatewayEvents(delta.before as unknown as Subnet, delta.object as unknown as Subnet)
    : [];

function gatewayEvents({ spec: before }: Subnet, { metadata, spec: now }: Subnet): readonly ChangeEvent[] {
  const of = (event: PlannedEvent): ChangeEvent => ({ resource: 'subnets', namespace: '', name: metadata.name, uid: metadata.uid, event });
  const [fromType, toType] = [before.gatewayType ?? '', now.gatewayType ?? ''];
  const [fromNode, toNode] = [before.gatewayNode ?? '', now.gatewayNode ?? ''];
  const events: ChangeEvent[] = [];
  // The default that is filled in is no change.
  if (fromType !== toType && fromType !== '' && toType !== '')
    events.push(
      of({
        type: 'Normal',
        reason: 'SubnetGatewayTypeChanged',
        message: `subnet gateway type changes from ${JSON.stringify(fromType)} to ${JSON.stringify(toType)}`,
      }),
    );
  if (fromNode !== toNode)
    events.push(
      of({
        type: 'Normal',
        reason: 'SubnetGatewayNodeChanged',
        message: `gateway node changes from ${JSON.stringify(fromNode)} to ${JSON.stringify(toNode)}`,
      }),
    );
  return events;
}

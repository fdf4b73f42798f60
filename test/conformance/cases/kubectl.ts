import assert from 'node:assert/strict';
import { test } from 'node:test';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, since } from '../context.ts';
import { AGE } from '../kubectl.ts';
import { until } from '../../../src/testing/until.ts';

const KUBE_OVN_CRDS = fileURLToPath(new URL('../../../../shared/reference/kube-ovn-crds.yaml', import.meta.url));
const WITHOUT_CRDS = 'needs ../shared/reference/kube-ovn-crds.yaml, which is not here';

function manifest(name: string, fields: Record<string, unknown>): string {
  return JSON.stringify({ apiVersion: 'lab.example.com/v1', kind: 'Widget', metadata: { name }, spec: { cidr: '10.0.0.0/16', ...fields } });
}

export function kubectlCases(holder: Holder): void {
  test('apply: created, unchanged, configured, fields removed', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('apply');
    const apply = async (fields: Record<string, unknown>): Promise<string> =>
      (await kubectl.ok(['apply', '-f', '-'], manifest(name, fields))).trim();
    assert.equal(await apply({ mtu: 1400, tags: ['a'] }), `widget.lab.example.com/${name} created`);
    assert.equal(await apply({ mtu: 1400, tags: ['a'] }), `widget.lab.example.com/${name} unchanged`);
    assert.equal(await apply({ mtu: 1500 }), `widget.lab.example.com/${name} configured`);
    assert.equal(await kubectl.ok(['get', 'widget', name, '-o', 'jsonpath={.spec.mtu} {.spec.tags}']), '1500 ');
  });

  test('apply of a core kind, with lists', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('cm');
    const apply = async (data: Record<string, string>): Promise<string> =>
      (
        await kubectl.ok(
          ['apply', '-f', '-'],
          JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data }),
        )
      ).trim();
    assert.equal(await apply({ a: '1', b: '2' }), `configmap/${name} created`);
    assert.equal(await apply({ a: '1' }), `configmap/${name} configured`);
    assert.equal(await kubectl.ok(['get', 'cm', name, '-o', 'jsonpath={.data}']), '{"a":"1"}');
    const deployment = (images: readonly string[]): string =>
      JSON.stringify({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name, namespace: 'default' },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: { containers: images.map((image, index) => ({ name: `c${index}`, image })) },
          },
        },
      });
    await kubectl.ok(['apply', '-f', '-'], deployment(['a:1', 'b:1', 'c:1']));
    assert.equal((await kubectl.ok(['apply', '-f', '-'], deployment(['a:2', 'b:1']))).trim(), `deployment.apps/${name} configured`);
    assert.equal(await kubectl.ok(['get', 'deploy', name, '-o', 'jsonpath={.spec.template.spec.containers[*].image}']), 'a:2 b:1');
    assert.equal((await kubectl.ok(['apply', '-f', '-'], deployment(['a:2', 'b:1']))).trim(), `deployment.apps/${name} unchanged`);
    await kubectl.ok(['delete', 'deploy', name]);
  });

  test('diff shows what apply would change, and changes nothing', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('diff');
    await kubectl.ok(['apply', '-f', '-'], manifest(name, { mtu: 1400 }));
    const same = await kubectl.run(['diff', '-f', '-'], manifest(name, { mtu: 1400 }));
    assert.deepEqual([same.code, same.stdout], [0, '']);
    const other = await kubectl.run(['diff', '-f', '-'], manifest(name, { mtu: 1500 }));
    assert.equal(other.code, 1, other.stderr);
    assert.match(other.stdout, /^-  mtu: 1400$/m);
    assert.match(other.stdout, /^\+  mtu: 1500$/m);
    assert.equal(await kubectl.ok(['get', 'widget', name, '-o', 'jsonpath={.spec.mtu}']), '1400');
  });

  test('errors have the text of a real cluster', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('err');
    assert.equal(await kubectl.fails(['get', 'widget', name]), `Error from server (NotFound): widgets.lab.example.com "${name}" not found`);
    assert.equal(await kubectl.fails(['delete', 'ns', name]), `Error from server (NotFound): namespaces "${name}" not found`);
    assert.equal(await kubectl.fails(['get', 'nothing']), `error: the server doesn't have a resource type "nothing"`);
    assert.match(
      await kubectl.fails(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'no.such.group/v1', kind: 'Gizmo', metadata: { name } })),
      /no matches for kind "Gizmo" in version "no\.such\.group\/v1"\s+ensure CRDs are installed first$/,
    );
    assert.equal(
      await kubectl.fails(['create', '--validate=false', '-f', '-'], manifest(name, { protocol: 'IPv5' })),
      `The Widget "${name}" is invalid: spec.protocol: Unsupported value: "IPv5": supported values: "IPv4", "IPv6", "Dual"`,
    );
    await kubectl.ok(['create', '-f', '-'], manifest(name, {}));
    assert.match(
      await kubectl.fails(['create', '-f', '-'], manifest(name, {})),
      new RegExp(`widgets\\.lab\\.example\\.com "${name}" already exists$`),
    );
  });

  since(holder, 27, 'unknown fields are refused by default', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('strict');
    assert.match(
      await kubectl.fails(['apply', '-f', '-'], manifest(name, { mtuu: 1 })),
      /strict decoding error: unknown field "spec\.mtuu"/,
    );
    const warned = await kubectl.run(['apply', '--validate=warn', '-f', '-'], manifest(name, { mtuu: 1 }));
    assert.equal(warned.code, 0, warned.stderr);
    assert.match(warned.stderr, /^Warning: unknown field "spec\.mtuu"/);
    assert.match(await kubectl.fails(['apply', '-f', '-'], manifest(name, { mtuu: 2 })), /unknown field "spec\.mtuu"/);
  });

  test('edit', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('edit');
    await kubectl.ok(['create', '-f', '-'], manifest(name, { mtu: 1400 }));
    const edited = await kubectl.edit(['widget', name], 's/mtu: 1400/mtu: 1500/');
    assert.equal(edited.stdout.trim(), `widget.lab.example.com/${name} edited`, edited.stderr);
    assert.equal(await kubectl.ok(['get', 'widget', name, '-o', 'jsonpath={.spec.mtu} {.metadata.generation}']), '1500 2');
    const unchanged = await kubectl.edit(['widget', name], 's/never/ever/');
    assert.match(unchanged.stderr + unchanged.stdout, /Edit cancelled, no changes made/);
  });

  test('get: wide, yaml, json, jsonpath, labels, names, categories', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('get');
    await kubectl.ok(['create', '-f', '-'], manifest(name, { mtu: 1400, tags: ['x'] }));
    await kubectl.ok(['label', 'widget', name, 'a=b']);
    assert.match(
      await kubectl.ok(['get', 'wi', name]),
      new RegExp(`^NAME\\s+CIDR\\s+MTU\\s+READY\\s+AGE\\n${name}\\s+10\\.0\\.0\\.0/16\\s+1400\\s+(?:${AGE})\\n$`),
    );
    assert.match(await kubectl.ok(['get', 'widget', name, '-o', 'wide']), /TAGS\s+AGE\n.*\["x"\]/);
    assert.match(await kubectl.ok(['get', 'widget', name, '-o', 'yaml']), /^apiVersion: lab\.example\.com\/v1\nkind: Widget\nmetadata:\n/);
    const json = JSON.parse(await kubectl.ok(['get', 'widgets', '-l', 'a=b', '-o', 'json'])) as unknown;
    assert.equal(at(json, 'kind'), 'List');
    assert.match(await kubectl.ok(['get', 'widget', name, '--show-labels']), /LABELS\n.*a=b\n$/);
    assert.equal((await kubectl.ok(['get', 'widget', name, '-o', 'name'])).trim(), `widget.lab.example.com/${name}`);
    assert.match(await kubectl.ok(['get', 'lab', '-o', 'name']), new RegExp(`widget\\.lab\\.example\\.com/${name}`));
    assert.match(
      await kubectl.ok(['get', 'widgets.v1.lab.example.com', name, '-o', 'custom-columns=N:.metadata.name,M:.spec.mtu']),
      /^N\s+M\n.*1400\n$/,
    );
    assert.match(await kubectl.ok(['get', 'widgets', '--sort-by=.spec.mtu', '--chunk-size=2']), new RegExp(name));
  });

  test('label, annotate, patch, scale, replace', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('change');
    await kubectl.ok(['create', '-f', '-'], manifest(name, {}));
    assert.equal((await kubectl.ok(['label', 'widget', name, 'a=b'])).trim(), `widget.lab.example.com/${name} labeled`);
    assert.match(await kubectl.fails(['label', 'widget', name, 'a=c']), /'a' already has a value \(b\), and --overwrite is false/);
    await kubectl.ok(['label', 'widget', name, 'a-']);
    await kubectl.ok(['annotate', 'widget', name, 'note=hello']);
    assert.equal(
      (await kubectl.ok(['patch', 'widget', name, '--type=merge', '-p', '{"spec":{"mtu":1300}}'])).trim(),
      `widget.lab.example.com/${name} patched`,
    );
    assert.equal(
      (await kubectl.ok(['patch', 'widget', name, '--type=merge', '-p', '{"spec":{"mtu":1300}}'])).trim(),
      `widget.lab.example.com/${name} patched (no change)`,
    );
    assert.match(await kubectl.ok(['patch', 'widget', name, '--type=json', '-p', '[{"op":"remove","path":"/spec/mtu"}]']), /patched/);
    assert.match(await kubectl.ok(['scale', 'widget', name, '--replicas=4']), /scaled/);
    assert.equal(await kubectl.ok(['get', 'widget', name, '-o', 'jsonpath={.spec.replicas}']), '4');
    assert.match(await kubectl.ok(['replace', '-f', '-'], manifest(name, { mtu: 1200 })), /replaced/);
    assert.equal(await kubectl.ok(['get', 'widget', name, '-o', 'jsonpath={.spec.mtu}']), '1200');
    assert.match(
      await kubectl.ok(['patch', 'widget', name, '--subresource=status', '--type=merge', '-p', '{"status":{"available":3}}']),
      /patched/,
    );
  });

  test('describe shows the object and its Events', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('descr');
    await kubectl.ok(['create', '-f', '-'], manifest(name, { mtu: 1400 }));
    const uid = await kubectl.ok(['get', 'widget', name, '-o', 'jsonpath={.metadata.uid}']);
    await kubectl.ok(
      ['create', '-f', '-'],
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace: 'default' },
        involvedObject: { apiVersion: 'lab.example.com/v1', kind: 'Widget', name, uid },
        reason: 'Tried',
        message: 'the widget was tried',
        type: 'Normal',
        source: { component: 'case' },
        firstTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
        lastTimestamp: new Date().toISOString().replace(/\.\d+/, ''),
        count: 1,
      }),
    );
    const described = await kubectl.ok(['describe', 'widget', name]);
    assert.match(described, new RegExp(`^Name:\\s+${name}$`, 'm'));
    assert.match(described, /^ {2}Mtu:\s+1400$/m);
    assert.match(described, new RegExp(`Normal\\s+Tried\\s+(?:${AGE})\\s+case\\s+the widget was tried`));
    assert.match(await kubectl.ok(['get', 'events', '--field-selector', `involvedObject.name=${name}`]), /Normal\s+Tried\s+widget\/descr/);
  });

  test('wait for a condition, for a field, for deletion', async () => {
    const { kubectl, http } = conformance(holder);
    const name = fresh('wait');
    await kubectl.ok(['create', '-f', '-'], manifest(name, {}));
    const waiting = kubectl.ok(['wait', '--for=condition=Ready', `widget/${name}`, '--timeout=120s']);
    await new Promise((resolve) => void setTimeout(resolve, 400));
    await http.patch(`/apis/lab.example.com/v1/widgets/${name}/status`, 'merge-patch', {
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    assert.equal((await waiting).trim(), `widget.lab.example.com/${name} condition met`);
    assert.match(await kubectl.ok(['wait', '--for=jsonpath={.spec.mode}=routed', `widget/${name}`, '--timeout=120s']), /condition met/);
    const never = await kubectl.waitUntilTimeout(['wait', '--for=condition=Never', `widget/${name}`, '--timeout=1s']);
    assert.notEqual(never.code, 0, never.stdout);
    assert.match(never.stderr, /timed out waiting for the condition/);
    await kubectl.ok(['patch', 'widget', name, '--type=merge', '-p', '{"metadata":{"finalizers":["example.com/hold"]}}']);
    await kubectl.ok(['delete', 'widget', name, '--wait=false']);
    const gone = kubectl.ok(['wait', '--for=delete', `widget/${name}`, '--timeout=120s']);
    await new Promise((resolve) => void setTimeout(resolve, 300));
    await kubectl.ok(['patch', 'widget', name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
    await gone;
  });

  test('get -w follows', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('follow');
    await kubectl.ok(['create', '-f', '-'], manifest(name, { mtu: 1400 }));
    const watch = kubectl.start(['get', 'widget', name, '-w', '--output-watch-events']);
    try {
      await until('the first line is there', () => watch.lines.some((line) => line.startsWith('ADDED')));
      await kubectl.ok(['patch', 'widget', name, '--type=merge', '-p', '{"spec":{"mtu":1500}}']);
      await until('the change is shown', () => watch.lines.some((line) => /^MODIFIED.*1500/.test(line)));
      await kubectl.ok(['delete', 'widget', name]);
      await until('the deletion is shown', () => watch.lines.some((line) => line.startsWith('DELETED')));
      assert.match(watch.lines[0] ?? '', /^EVENT\s+NAME\s+CIDR\s+MTU\s+READY\s+AGE/);
    } finally {
      await watch.stop();
    }
  });

  test('delete by name, by label, by file, and waiting', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('del');
    await kubectl.ok(['create', '-f', '-'], manifest(name, {}));
    assert.match(await kubectl.ok(['delete', 'widget', name]), new RegExp(`^widget\\.lab\\.example\\.com "${name}" deleted`));
    assert.equal((await kubectl.ok(['delete', 'widget', name, '--ignore-not-found'])).trim(), '');
    await kubectl.ok(['create', '-f', '-'], manifest(name, {}));
    await kubectl.ok(['label', 'widget', name, `mark=${name}`]);
    assert.match(await kubectl.ok(['delete', 'widgets', '-l', `mark=${name}`]), /deleted/);
    await kubectl.ok(['create', '-f', '-'], manifest(name, {}));
    assert.match(await kubectl.ok(['delete', '-f', '-', '--wait=true'], manifest(name, {})), /deleted/);
  });

  test('namespaces, pods and other core kinds, created by kubectl create', async () => {
    const { kubectl } = conformance(holder);
    const namespace = fresh('people');
    assert.equal((await kubectl.ok(['create', 'ns', namespace])).trim(), `namespace/${namespace} created`);
    assert.match(
      await kubectl.ok([
        'run',
        'web',
        '-n',
        namespace,
        '--image=registry.example/web:1',
        '--overrides={"spec":{"automountServiceAccountToken":false}}',
      ]),
      /pod\/web created/,
    );
    await kubectl.ok(['create', 'configmap', 'c', '-n', namespace, '--from-literal=a=b']);
    await kubectl.ok(['create', 'secret', 'generic', 's', '-n', namespace, '--from-literal=a=b']);
    await kubectl.ok(['create', 'deployment', 'd', '-n', namespace, '--image=i:1', '--replicas=0']);
    await kubectl.ok(['create', 'service', 'clusterip', 'v', '-n', namespace, '--tcp=80:8080']);
    await kubectl.ok(['create', 'serviceaccount', 'sa', '-n', namespace]);
    await kubectl.ok(['create', 'role', 'r', '-n', namespace, '--verb=get', '--resource=pods']);
    assert.equal(
      await kubectl.ok([
        'get',
        'deploy',
        'd',
        '-n',
        namespace,
        '-o',
        'jsonpath={.spec.replicas}/{.spec.template.spec.containers[0].image}',
      ]),
      '0/i:1',
    );
    assert.equal(await kubectl.ok(['get', 'svc', 'v', '-n', namespace, '-o', 'jsonpath={.spec.ports[0].targetPort}']), '8080');
    assert.equal(await kubectl.ok(['get', 'secret', 's', '-n', namespace, '-o', 'jsonpath={.data.a}']), 'Yg==');
    const pods = await kubectl.ok(['get', 'pods', '-n', namespace, '-o', 'wide']);
    assert.match(
      pods,
      new RegExp(
        `^NAME\\s+READY\\s+STATUS\\s+RESTARTS\\s+AGE\\s+IP\\s+NODE\\s+NOMINATED NODE\\s+READINESS GATES\\nweb\\s+0/1\\s+Pending\\s+0\\s+(?:${AGE})(?:\\s+<none>){4}\\n$`,
      ),
    );
    assert.match(await kubectl.ok(['describe', 'pod', 'web', '-n', namespace]), /^Status:\s+Pending$/m);
    assert.match(await kubectl.ok(['describe', 'ns', namespace]), /^Status:\s+Active$/m);
    assert.match(await kubectl.ok(['describe', 'svc', 'v', '-n', namespace]), /^TargetPort:\s+8080\/TCP$/m);
    assert.match(await kubectl.ok(['describe', 'deploy', 'd', '-n', namespace]), /^Replicas:\s+0 desired/m);
    assert.match(await kubectl.ok(['get', 'all', '-n', namespace, '-o', 'name']), /pod\/web\nservice\/v\ndeployment\.apps\/d/);
    assert.match(await kubectl.ok(['delete', 'ns', namespace, '--timeout=120s']), /deleted/);
    assert.match(await kubectl.fails(['get', 'ns', namespace]), /not found/);
  });

  since(holder, 22, 'nodes: described, cordoned, drained', async () => {
    const { kubectl } = conformance(holder);
    const node = fresh('node');
    await kubectl.ok(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name: node } }));
    await kubectl.ok([
      'patch',
      'node',
      node,
      '--subresource=status',
      '--type=merge',
      '-p',
      '{"status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"192.0.2.1"}]}}',
    ]);
    assert.match(
      await kubectl.ok(['get', 'node', node, '-o', 'wide']),
      new RegExp(`Ready\\s+<none>\\s+(?:${AGE})\\s+192\\.0\\.2\\.1\\s+<none>`),
    );
    assert.match(await kubectl.ok(['describe', 'node', node]), /^Unschedulable:\s+false$/m);
    assert.match(await kubectl.ok(['cordon', node]), /cordoned/);
    assert.match(await kubectl.ok(['get', 'node', node]), /SchedulingDisabled/);
    assert.match(await kubectl.ok(['drain', node, '--timeout=120s']), /drained/);
    assert.match(await kubectl.ok(['uncordon', node]), /uncordoned/);
    await kubectl.ok(['delete', 'node', node]);
  });

  test('all definitions of Kube-OVN', { skip: existsSync(KUBE_OVN_CRDS) ? false : WITHOUT_CRDS }, async () => {
    const { kubectl } = conformance(holder);
    const applied = await kubectl.ok(['apply', '--validate=false', '-f', KUBE_OVN_CRDS]);
    assert.equal(
      applied
        .trim()
        .split('\n')
        .filter((line) => line.endsWith(' created')).length,
      25,
    );
    await kubectl.established();
    const subnet = {
      apiVersion: 'kubeovn.io/v1',
      kind: 'Subnet',
      metadata: { name: 's' },
      spec: { cidrBlock: '10.1.0.0/16', protocol: 'IPv4' },
    };
    await until('a Subnet can be applied', async () => (await kubectl.run(['apply', '-f', '-'], JSON.stringify(subnet))).code === 0);
    assert.match(await kubectl.ok(['get', 'subnet', 's']), /^NAME\s+PROVIDER\s+VPC\s+VLAN\s+PROTOCOL\s+CIDR/);
    // An API server of 1.34 may for minutes not remove a kind that has never been read.
    for (const line of (await kubectl.ok(['api-resources', '--api-group=kubeovn.io', '-o', 'name'])).trim().split('\n'))
      await until(`${line} is read`, async () => (await kubectl.run(['get', line])).code === 0);
    await until('a Subnet is described', async () => (await kubectl.run(['explain', 'subnet'])).code === 0);
    assert.match(await kubectl.ok(['explain', 'subnet.spec.cidrBlock']), /cidrBlock <string>/);
    await kubectl.ok(['delete', 'subnet', 's']);
    const removed = await kubectl.ok(['delete', '-f', KUBE_OVN_CRDS, '--timeout=120s']);
    assert.equal(removed.trim().split('\n').length, 25);
  });
}

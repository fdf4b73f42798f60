import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, message, newNamespace, version } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { widget, WIDGETS } from '../widgets.ts';

export function objectCases(holder: Holder): void {
  test('created, read, replaced, deleted', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const created = await http.send('POST', path, configMap('one', { a: '1' }));
    assert.equal(created.status, 201);
    const meta = created.body['metadata'] as Record<string, string>;
    assert.match(meta['uid'] ?? '', /^[0-9a-f-]{36}$/);
    assert.match(meta['creationTimestamp'] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(meta['namespace'], namespace);
    const replaced = await http.send('PUT', `${path}/one`, { ...created.body, data: { a: '2' } });
    assert.equal(replaced.status, 200);
    assert.ok(BigInt(version(replaced)) > BigInt(version(created)));
    assert.equal(at(replaced.body, 'metadata', 'uid'), meta['uid']);
    const read = await http.get(`${path}/one`);
    assert.deepEqual(read.body['data'], { a: '2' });
    const deleted = await http.send('DELETE', `${path}/one`);
    assert.equal(deleted.status, 200);
    assert.equal(deleted.body['kind'], 'Status');
    assert.equal(deleted.body['status'], 'Success');
    assert.deepEqual(deleted.body['details'], { name: 'one', kind: 'configmaps', uid: meta['uid'] });
    assert.equal((await http.get(`${path}/one`)).status, 404);
  });

  test('a write that changes nothing keeps the resourceVersion', async () => {
    const { http } = conformance(holder);
    const name = fresh('same');
    const created = await http.send('POST', WIDGETS, widget(name));
    const again = await http.send('PUT', `${WIDGETS}/${name}`, created.body);
    assert.equal(version(again), version(created));
  });

  test('generateName', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const created = await http.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { generateName: 'made-' },
    });
    assert.match(String(at(created.body, 'metadata', 'name')), /^made-[a-z0-9]{5}$/);
    assert.equal(at(created.body, 'metadata', 'generateName'), 'made-');
  });

  test('not found, and already exists', async () => {
    const { http } = conformance(holder);
    const name = fresh('twice');
    const missing = await http.get(`${WIDGETS}/${name}`);
    assert.equal(missing.status, 404);
    assert.equal(message(missing), `widgets.lab.example.com "${name}" not found`);
    assert.equal(missing.body['reason'], 'NotFound');
    assert.deepEqual(missing.body['details'], { name, group: 'lab.example.com', kind: 'widgets' });
    for (const method of ['PUT', 'DELETE'])
      assert.equal(
        (await http.send(method, `${WIDGETS}/${name}`, method === 'PUT' ? widget(name, {}, { resourceVersion: '1' }) : undefined)).status,
        404,
        method,
      );
    assert.equal((await http.patch(`${WIDGETS}/${name}`, 'merge-patch', {})).status, 404);
    await http.send('POST', WIDGETS, widget(name));
    const again = await http.send('POST', WIDGETS, widget(name));
    assert.equal(again.status, 409);
    assert.equal(again.body['reason'], 'AlreadyExists');
    assert.equal(message(again), `widgets.lab.example.com "${name}" already exists`);
  });

  test('a stale resourceVersion conflicts', async () => {
    const { http } = conformance(holder);
    const name = fresh('stale');
    const created = await http.send('POST', WIDGETS, widget(name));
    await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { spec: { mtu: 1400 } });
    const late = await http.send('PUT', `${WIDGETS}/${name}`, created.body);
    assert.equal(late.status, 409);
    assert.equal(late.body['reason'], 'Conflict');
    assert.equal(
      message(late),
      `Operation cannot be fulfilled on widgets.lab.example.com "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    );
    const patched = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', {
      metadata: { resourceVersion: version(created) },
      spec: { mtu: 1 },
    });
    assert.equal(patched.status, 409);
  });

  test('a custom object is not replaced without a resourceVersion, a core one is', async () => {
    const { http } = conformance(holder);
    const name = fresh('blind');
    await http.send('POST', WIDGETS, widget(name));
    const rejected = await http.send('PUT', `${WIDGETS}/${name}`, widget(name));
    assert.equal(rejected.status, 422);
    const invalid = `widgets.lab.example.com "${name}" is invalid: metadata.resourceVersion: Invalid value: `;
    assert.equal(message(rejected).replace(/ 0x0:/, ' 0:'), `${invalid}0: must be specified for an update`);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await http.send('POST', path, configMap('one'));
    assert.equal((await http.send('PUT', `${path}/one`, configMap('one', { b: '2' }))).status, 200);
  });

  test('another uid conflicts', async () => {
    const { http } = conformance(holder);
    const name = fresh('other');
    const created = await http.send('POST', WIDGETS, widget(name));
    const uid = String(at(created.body, 'metadata', 'uid'));
    const wrong = { preconditions: { uid: '00000000-0000-0000-0000-000000000000' } };
    const rejected = await http.send('DELETE', `${WIDGETS}/${name}`, { kind: 'DeleteOptions', apiVersion: 'v1', ...wrong });
    assert.equal(rejected.status, 409);
    assert.equal(
      message(rejected),
      `Operation cannot be fulfilled on Widget.lab.example.com "${name}": the UID in the precondition (00000000-0000-0000-0000-000000000000) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
    const stale = await http.send('DELETE', `${WIDGETS}/${name}`, {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      preconditions: { resourceVersion: '1' },
    });
    assert.equal(stale.status, 409);
    assert.equal(
      (await http.send('DELETE', `${WIDGETS}/${name}`, { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid } })).status,
      200,
    );
  });

  test('names and namespaces must agree with the path', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await http.send('POST', path, configMap('one'));
    const otherName = await http.send('PUT', `${path}/one`, configMap('two'));
    assert.equal(otherName.status, 400);
    assert.equal(message(otherName), 'the name of the object (two) does not match the name on the URL (one)');
    const otherNamespace = await http.send('POST', path, configMap('three', {}, { namespace: 'default' }));
    assert.equal(otherNamespace.status, 400);
    assert.equal(message(otherNamespace), 'the namespace of the provided object does not match the namespace sent on the request');
    const nowhere = await http.send('POST', '/api/v1/namespaces/not-there/configmaps', configMap('one'));
    assert.equal(nowhere.status, 404);
    assert.equal(message(nowhere), 'namespaces "not-there" not found');
  });

  test('names, labels and finalizers are checked', async () => {
    const { http } = conformance(holder);
    const upper = await http.send('POST', WIDGETS, widget('Upper_Case'));
    assert.equal(upper.status, 422);
    assert.equal(upper.body['reason'], 'Invalid');
    assert.match(
      message(upper),
      /^Widget\.lab\.example\.com "Upper_Case" is invalid: metadata\.name: Invalid value: "Upper_Case": a (lowercase RFC 1123|DNS-1123) subdomain must consist of lower case/,
    );
    assert.equal(at(upper.body, 'details', 'causes', 0, 'reason'), 'FieldValueInvalid');
    assert.equal(at(upper.body, 'details', 'causes', 0, 'field'), 'metadata.name');
    const label = await http.send('POST', WIDGETS, widget(fresh('label'), {}, { labels: { a: 'not ok' } }));
    assert.equal(label.status, 422);
    assert.match(message(label), /metadata\.labels: Invalid value: "not ok": a valid label must be an empty string or consist of/);
    const number = await http.send('POST', WIDGETS, widget(fresh('label'), {}, { labels: { a: 1 } }));
    assert.equal(number.status, 400);
    const nameless = await http.send('POST', WIDGETS, { ...widget(''), metadata: {} });
    assert.equal(nameless.status, 422);
    assert.match(message(nameless), /metadata\.name: Required value: name or generateName is required/);
  });

  test('clients do not set what the server sets', async () => {
    const { http } = conformance(holder);
    const name = fresh('own');
    const created = await http.send(
      'POST',
      WIDGETS,
      widget(
        name,
        {},
        { uid: 'mine', generation: 7, creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z' },
      ),
    );
    assert.equal(created.status, 201);
    assert.notEqual(at(created.body, 'metadata', 'uid'), 'mine');
    assert.equal(at(created.body, 'metadata', 'generation'), 1);
    assert.equal(at(created.body, 'metadata', 'deletionTimestamp'), undefined);
    const patched = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', {
      metadata: { creationTimestamp: '2001-01-01T00:00:00Z', generation: 9 },
    });
    assert.equal(patched.status, 200, patched.text);
    assert.equal(at(patched.body, 'metadata', 'creationTimestamp'), at(created.body, 'metadata', 'creationTimestamp'));
    assert.equal(at(patched.body, 'metadata', 'generation'), 1);
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds']) {
      const rejected = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', {
        metadata: { [field]: field === 'deletionTimestamp' ? '2001-01-01T00:00:00Z' : 5 },
      });
      assert.equal(rejected.status, 422);
      assert.match(message(rejected), new RegExp(`metadata\\.${field}: Invalid value: .*: field is immutable`));
    }
  });

  test('a dry run leaves nothing', async () => {
    const { http } = conformance(holder);
    const name = fresh('dry');
    const created = await http.send('POST', `${WIDGETS}?dryRun=All`, widget(name));
    assert.equal(created.status, 201);
    assert.equal((await http.get(`${WIDGETS}/${name}`)).status, 404);
    const real = await http.send('POST', WIDGETS, widget(name));
    const patched = await http.send(
      'PATCH',
      `${WIDGETS}/${name}?dryRun=All`,
      { spec: { mtu: 9000 } },
      { 'Content-Type': 'application/merge-patch+json' },
    );
    assert.equal(at(patched.body, 'spec', 'mtu'), 9000);
    assert.equal(at(patched.body, 'metadata', 'generation'), 2);
    assert.equal((await http.send('DELETE', `${WIDGETS}/${name}?dryRun=All`)).status, 200);
    const kept = await http.get(`${WIDGETS}/${name}`);
    assert.equal(version(kept), version(real));
    assert.equal((await http.send('POST', `${WIDGETS}?dryRun=Some`, widget(fresh('dry')))).status >= 400, true);
  });

  test('invalid bodies', async () => {
    const { http } = conformance(holder);
    const broken = await http.send('POST', WIDGETS, '{"kind":');
    assert.equal(broken.status, 400);
    assert.equal(broken.body['reason'], 'BadRequest');
    const otherKind = await http.send('POST', WIDGETS, { ...widget(fresh('x')), kind: 'Gadget' });
    assert.equal(otherKind.status, 422);
    assert.match(message(otherKind), /^Gadget\.lab\.example\.com "x-[-\d]+" is invalid: kind: Invalid value: "Gadget": must be Widget$/);
    const otherVersion = await http.send('POST', WIDGETS, { ...widget(fresh('x')), apiVersion: 'lab.example.com/v2' });
    assert.equal(otherVersion.status, 400);
    const nowhere = await http.send('POST', '/api/v1/configmaps', configMap('nowhere'));
    assert.equal(nowhere.status, 405);
    assert.equal(nowhere.body['reason'], 'MethodNotAllowed');
    const kindless = await http.send('POST', WIDGETS, { metadata: { name: 'x' }, spec: { cidr: 'x' } });
    assert.equal(kindless.status, 400);
    assert.match(message(kindless), /Object 'Kind' is missing in/);
  });

  test('the server rejects metadata of wrong types, of custom and of built-in kinds, and stores nothing', async () => {
    const { http } = conformance(holder);
    const wrong: readonly Fields[] = [
      { finalizers: 'example.com/hold' },
      { finalizers: [5] },
      { labels: 'x' },
      { annotations: { a: 1 } },
      { ownerReferences: {} },
      { ownerReferences: ['x'] },
      { creationTimestamp: 'yesterday' },
    ];
    for (const metadata of wrong) {
      const name = fresh('typed');
      const custom = await http.send('POST', WIDGETS, widget(name, {}, metadata));
      const builtin = await http.send('POST', '/api/v1/namespaces/default/configmaps', configMap(name, {}, metadata));
      for (const reply of [custom, builtin]) assert.equal(reply.status, 400, `${JSON.stringify(metadata)}: ${reply.text}`);
      assert.equal((await http.get(`${WIDGETS}/${name}`)).status, 404);
    }
  });

  test("an object has one controller, and the error of a label's or finalizer's name gives the rule", async () => {
    const { http } = conformance(holder);
    const owner = (name: string): Fields => ({ apiVersion: 'v1', kind: 'ConfigMap', name, uid: name, controller: true });
    const rejected = async (metadata: Fields): Promise<string> => {
      const reply = await http.send('POST', WIDGETS, widget(fresh('named'), {}, metadata));
      assert.equal(reply.status, 422, reply.text);
      return message(reply);
    };
    assert.match(
      await rejected({ ownerReferences: [owner('one'), owner('two')] }),
      /Only one reference can have Controller set to true\. Found "true" in references for (?:ConfigMap\/)?one and (?:ConfigMap\/)?two/,
    );
    assert.match(await rejected({ labels: { 'a/b/c': 'x' } }), /a qualified name must consist of .* with an optional DNS subdomain prefix/);
    assert.match(await rejected({ labels: { '/b': 'x' } }), /prefix part must be non-empty/);
    assert.match(await rejected({ labels: { ['b'.repeat(64)]: 'x' } }), /name part must be no more than 63 characters/);
    assert.match(await rejected({ finalizers: [''] }), /name part must be non-empty/);
  });

  test('the name in the body must be that of the URL, also if there is no such object', async () => {
    const { http } = conformance(holder);
    const path = '/api/v1/namespaces/default/configmaps';
    const other = await http.send('PUT', `${path}/${fresh('none')}`, configMap('other'));
    assert.equal(other.status, 400, other.text);
    assert.match(message(other), /^the name of the object \(other\) does not match the name on the URL \(/);
    const name = fresh('named');
    await http.send('POST', WIDGETS, widget(name));
    const unnamed = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { metadata: null });
    assert.equal(unnamed.status, 400);
    assert.equal(message(unnamed), `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
    const subresource = await http.get(`${path}/${name}/nothing`);
    assert.deepEqual([subresource.status, message(subresource)], [404, 'the server could not find the requested resource']);
  });

  test('a deletion has one propagation policy', async () => {
    const { http } = conformance(holder);
    const name = fresh('both');
    await http.send('POST', WIDGETS, widget(name));
    const both = await http.send('DELETE', `${WIDGETS}/${name}`, { propagationPolicy: 'Orphan', orphanDependents: true });
    assert.equal(both.status, 422, both.text);
    assert.match(message(both), /orphanDependents and deletionPropagation cannot be both set/);
    assert.equal((await http.get(`${WIDGETS}/${name}`)).status, 200);
  });

  test('the server rejects a cluster address of another Service, or outside of the range', async () => {
    const { http } = conformance(holder);
    const path = '/api/v1/namespaces/default/services';
    const service = (clusterIP: string): Fields => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: fresh('svc') },
      spec: { clusterIP, ports: [{ port: 80 }] },
    });
    const first = await http.send('POST', path, service('10.100.77.77'));
    assert.equal(first.status, 201, first.text);
    const taken = await http.send('POST', path, service('10.100.77.77'));
    assert.equal(taken.status, 422, taken.text);
    assert.match(
      message(taken),
      /spec\.clusterIPs: Invalid value: (?:\[\]string\{"10\.100\.77\.77"\}|\["10\.100\.77\.77"\]): .*provided IP is already allocated/,
    );
    const outside = await http.send('POST', path, service('192.0.2.1'));
    assert.equal(outside.status, 422, outside.text);
    assert.match(
      message(outside),
      /not in the valid range\. The range of valid IPs is 10\.96\.0\.0\/12|the provided network does not match the current range/,
    );
  });

  test('a watch ends at its timeout, and one with an invalid option does not begin', async () => {
    const { http } = conformance(holder);
    const past = await http.get(`${WIDGETS}?watch=1&timeoutSeconds=-5`);
    assert.equal(past.status, 200);
    const nonsense = await http.get(`${WIDGETS}?watch=1&timeoutSeconds=soon`);
    assert.deepEqual([nonsense.status, message(nonsense)], [400, 'strconv.ParseInt: parsing "soon": invalid syntax']);
    const namespace = await http.get(`${WIDGETS}?fieldSelector=metadata.namespace%3Dx`);
    assert.equal(namespace.status, 400, namespace.text);
    assert.match(message(namespace), /field label not supported: metadata\.namespace$/);
  });
}

/** Authentication, impersonation, and authorization by RBAC. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Holder } from '../context.ts';
import { conformance, fresh, message, newNamespace, since } from '../context.ts';
import { HttpsClient } from '../https-client.ts';
import type { Fields, RawReply } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';

export function accessCases(holder: Holder): void {
  test('an impersonated user has the rights of its roles, and no others', async () => {
    const { kubectl, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const bob = fresh('bob');
    const as = (...args: string[]): string[] => [...args, '-n', namespace, `--as=${bob}`];
    assert.equal(
      await kubectl.fails(as('get', 'pods')),
      `Error from server (Forbidden): pods is forbidden: User "${bob}" cannot list resource "pods" in API group "" in the namespace "${namespace}"`,
    );
    await kubectl.ok(['create', 'role', 'reader', '-n', namespace, '--verb=get,list', '--resource=pods']);
    await kubectl.ok(['create', 'rolebinding', 'reader', '-n', namespace, '--role=reader', `--user=${bob}`]);
    const mayRead = async (): Promise<boolean> => (await kubectl.run(as('auth', 'can-i', 'list', 'pods'))).code === 0;
    await until('the role is heard of', mayRead);
    assert.equal((await kubectl.ok(as('get', 'pods', '-o', 'name'))).trim(), '');
    assert.equal((await kubectl.run(as('auth', 'can-i', 'delete', 'pods'))).stdout.trim(), 'no');
    assert.match(await kubectl.fails(as('delete', 'pod', 'x')), /pods "x" is forbidden: User ".*" cannot delete resource "pods"/);
    assert.match(
      await kubectl.fails(['get', 'nodes', `--as=${bob}`]),
      /cannot list resource "nodes" in API group "" at the cluster scope$/,
    );
    assert.match(await kubectl.fails(['get', '--raw', '/metrics', `--as=${bob}`]), /forbidden: User ".*" cannot get path "\/metrics"/);
    assert.equal((await kubectl.ok(['get', 'pods', '-n', namespace, '-o', 'name', '--as=eve', '--as-group=system:masters'])).trim(), '');
    // Rights of all users are listed beside those of administrators.
    const rights = await kubectl.ok(['auth', 'can-i', '--list']);
    assert.match(rights, /^selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]$/m);
    assert.equal(rights.match(/^ +\[\*\] +\[\] +\[\*\]$/gm)?.length, 1, 'nothing is told twice');
    const nameless = await http.get('/api/v1/nodes', { 'Impersonate-Group': 'system:masters' });
    assert.equal(nameless.status, 500);
    assert.match(nameless.text, /without impersonating a user/);
  });

  test('who may list an object of a name lists it by that name, and no others', async () => {
    const { kubectl } = conformance(holder);
    const namespace = await newNamespace(holder);
    const bob = fresh('bob');
    await kubectl.ok(['create', 'role', 'one', '-n', namespace, '--verb=list', '--resource=configmaps', '--resource-name=chosen']);
    await kubectl.ok(['create', 'rolebinding', 'one', '-n', namespace, '--role=one', `--user=${bob}`]);
    const list = (...args: string[]): string[] => ['get', 'configmaps', '-n', namespace, '-o', 'name', `--as=${bob}`, ...args];
    await until('the role is heard of', async () => (await kubectl.run(list('--field-selector=metadata.name=chosen'))).code === 0);
    await kubectl.ok(['create', 'configmap', 'chosen', '-n', namespace]);
    assert.equal((await kubectl.ok(list('--field-selector=metadata.name=chosen'))).trim(), 'configmap/chosen');
    for (const selector of [[], ['--field-selector=metadata.name=other'], ['--field-selector=metadata.name!=chosen']])
      assert.match(await kubectl.fails(list(...selector)), /cannot list resource "configmaps"/, selector.join());
  });

  const needOwnRight = async (
    asked: (namespace: string) => readonly (readonly [Readonly<Record<string, string>>, string])[],
  ): Promise<void> => {
    const { kubectl, kubeconfigPath } = conformance(holder);
    const namespace = await newNamespace(holder);
    const role = fresh('speaker');
    await kubectl.ok(['create', 'sa', 'robot', '-n', namespace]);
    await kubectl.ok(['create', 'clusterrole', role, '--verb=impersonate', '--resource=users']);
    const token = (await kubectl.ok(['create', 'token', 'robot', '-n', namespace])).trim();
    await kubectl.ok(['create', 'clusterrolebinding', role, `--clusterrole=${role}`, `--serviceaccount=${namespace}:robot`]);
    const robot = await HttpsClient.fromKubeconfig(kubeconfigPath, true);
    const as = (headers: Readonly<Record<string, string>>): ReturnType<HttpsClient['get']> =>
      robot.get('/api', { Authorization: `Bearer ${token}`, ...headers });
    await until('the role is heard of', async () => (await as({ 'Impersonate-User': 'eve' })).status === 200);
    for (const [more, what] of asked(namespace)) {
      const rejected = await as({ 'Impersonate-User': 'eve', ...more });
      assert.equal(rejected.status, 403, what);
      assert.match(message(rejected), new RegExp(`cannot impersonate resource "${what}" in API group`));
    }
    robot.close();
  };

  test('impersonation of an account, of a group, or with extras, is a right of its own', () =>
    needOwnRight((namespace) => [
      [{ 'Impersonate-User': `system:serviceaccount:${namespace}:default` }, 'serviceaccounts'],
      [{ 'Impersonate-Group': 'system:masters' }, 'groups'],
      [{ 'Impersonate-Extra-Team': 'red' }, 'userextras/team'],
    ]));

  since(holder, 22, 'to speak for a uid is a right of its own', () => needOwnRight(() => [[{ 'Impersonate-Uid': '7' }, 'uids']]));

  test('a service account has a token, and the token is the account', async () => {
    const { kubectl, kubeconfigPath, http } = conformance(holder);
    const namespace = await newNamespace(holder);
    await kubectl.ok(['create', 'sa', 'robot', '-n', namespace]);
    const token = (await kubectl.ok(['create', 'token', 'robot', '-n', namespace])).trim();
    assert.match(token, /^[\w-]+\.[\w-]+\.[\w-]+$/);
    assert.match(await kubectl.fails(['create', 'token', 'nobody', '-n', namespace]), /serviceaccounts "nobody" not found/);
    assert.match(
      await kubectl.fails(['create', 'token', 'robot', '-n', namespace, '--duration=5s']),
      /spec\.expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes/,
    );
    const robot = await HttpsClient.fromKubeconfig(kubeconfigPath, true);
    const list = (bearer: string): ReturnType<HttpsClient['get']> =>
      robot.get(`/api/v1/namespaces/${namespace}/pods`, { Authorization: `Bearer ${bearer}` });
    const rejected = await list(token);
    assert.equal(rejected.status, 403, rejected.text);
    assert.match(message(rejected), new RegExp(`User "system:serviceaccount:${namespace}:robot" cannot list resource "pods"`));
    assert.equal((await list(`${token}x`)).status, 401);
    assert.equal((await http.send('DELETE', `/api/v1/namespaces/${namespace}/serviceaccounts/robot`)).status, 200);
    // A real API server caches the user of a token for some seconds.
    await until('the token of an account that is gone is refused', async () => (await list(token)).status === 401);
    robot.close();
  });

  since(holder, 28, 'who am I?', async () => {
    const { kubectl } = conformance(holder);
    assert.match(await kubectl.ok(['auth', 'whoami']), /Groups +\[system:masters system:authenticated\]/);
    assert.match(
      await kubectl.ok(['auth', 'whoami', '--as=bob', '--as-group=crew']),
      /Username +bob\nGroups +\[crew system:authenticated\]/,
    );
  });

  test('a namespace has the roles view, edit and admin, and a custom kind is added to them', async () => {
    const { kubectl } = conformance(holder);
    const name = fresh('users');
    await kubectl.ok(['create', 'ns', name]);
    const may = async (user: string, ...what: string[]): Promise<string> =>
      (await kubectl.run(['auth', 'can-i', ...what, '-n', name, `--as=${user}`])).stdout.trim();
    for (const role of ['view', 'edit', 'admin']) {
      await kubectl.ok(['create', 'rolebinding', role, '-n', name, `--clusterrole=${role}`, `--user=${name}-${role}`]);
    }
    // The authorizer of a real API server observes a binding a moment later.
    for (const role of ['view', 'edit', 'admin'])
      await until(`${role} is bound`, async () => (await may(`${name}-${role}`, 'list', 'pods')) === 'yes');
    const table = [
      ['get', 'secrets', 'no yes yes'],
      ['create', 'deployments.apps', 'no yes yes'],
      ['patch', 'services', 'no yes yes'],
      ['create', 'rolebindings', 'no no yes'],
      ['delete', 'nodes', 'no no no'],
    ] as const;
    for (const [verb, resource, expected] of table) {
      const said: string[] = [];
      for (const role of ['view', 'edit', 'admin']) said.push(await may(`${name}-${role}`, verb, resource));
      assert.equal(said.join(' '), expected, `${verb} ${resource}`);
    }
    await kubectl.ok(['create', 'clusterrole', name, '--verb=list', `--resource=leases.coordination.k8s.io`]);
    assert.equal(await may(`${name}-view`, 'list', 'leases.coordination.k8s.io'), 'no');
    await kubectl.ok(['label', 'clusterrole', name, 'rbac.authorization.k8s.io/aggregate-to-view=true']);
    await until('the viewer has what was added', async () => (await may(`${name}-view`, 'list', 'leases.coordination.k8s.io')) === 'yes');
    await until('and so has the administrator', async () => (await may(`${name}-admin`, 'list', 'leases.coordination.k8s.io')) === 'yes');
    await kubectl.ok(['delete', 'clusterrole', name]);
    await until('which goes again', async () => (await may(`${name}-view`, 'list', 'leases.coordination.k8s.io')) === 'no');
    await kubectl.ok(['delete', 'ns', name, '--wait=false']);
  });

  test('an aggregated role has the rules of the selected roles, and follows their changes', async () => {
    const { kubectl, http } = conformance(holder);
    const name = fresh('whole');
    const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const rule = (resource: string, ...verbs: string[]): Fields => ({ apiGroups: [''], resources: [resource], verbs });
    const part = (suffix: string, rules: readonly Fields[], labels: Fields = { [name]: 'yes' }): Promise<RawReply> =>
      http.send('POST', path, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name: `${name}-${suffix}`, labels },
        rules,
      });
    const whole = (aggregationRule: Fields, rules: readonly Fields[] = []): Promise<RawReply> =>
      http.send('POST', path, {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        metadata: { name, labels: { [name]: 'yes' } },
        aggregationRule,
        rules,
      });
    const rules = async (): Promise<unknown> => (await http.get(`${path}/${name}`)).body['rules'] ?? [];
    const become = async (what: string, expected: readonly Fields[]): Promise<void> => {
      await until(what, async () => isDeepStrictEqual((await rules()) ?? [], expected)).catch(() => undefined);
      assert.deepEqual((await rules()) ?? [], expected, what);
    };
    const empty = await whole({ clusterRoleSelectors: [] });
    assert.deepEqual(
      [empty.status, message(empty)],
      [
        422,
        `ClusterRole.rbac.authorization.k8s.io "${name}" is invalid: aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil`,
      ],
    );
    await part('b', [rule('pods', 'get'), rule('secrets', 'get')]);
    const made = await whole({ clusterRoleSelectors: [{ matchLabels: { [name]: 'yes' } }] }, [rule('nodes', 'delete')]);
    assert.equal(made.status, 201, made.text);
    await become('what was written by hand gives way to what is selected', [rule('pods', 'get'), rule('secrets', 'get')]);
    await part('a', [rule('services', 'list'), rule('pods', 'get')]);
    await part('c', [rule('endpoints', 'list')], { [name]: 'no' });
    await become('each rule is there once, by the names of the roles', [
      rule('services', 'list'),
      rule('pods', 'get'),
      rule('secrets', 'get'),
    ]);
    await http.patch(`${path}/${name}-b`, 'merge-patch', { rules: [rule('pods', 'get', 'list')] });
    await become('a role that changes', [rule('services', 'list'), rule('pods', 'get'), rule('pods', 'get', 'list')]);
    await kubectl.ok(['label', 'clusterrole', `${name}-a`, `${name}-`]);
    await become('a role that loses its label', [rule('pods', 'get', 'list')]);
    await kubectl.ok(['label', '--overwrite', 'clusterrole', `${name}-c`, `${name}=yes`]);
    await become('a role that gets it', [rule('pods', 'get', 'list'), rule('endpoints', 'list')]);
    await kubectl.ok(['delete', 'clusterrole', `${name}-b`]);
    await become('a role that goes', [rule('endpoints', 'list')]);
    await http.patch(`${path}/${name}`, 'merge-patch', { rules: [] });
    await become('rules taken away by hand come back', [rule('endpoints', 'list')]);
    await http.patch(`${path}/${name}`, 'merge-patch', {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [name]: 'none' } }] },
    });
    await become('a selector of nothing', []);
    assert.match(await kubectl.ok(['describe', 'clusterrole', name]), /^PolicyRule:/m);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandAtEnd, commandText, inNamespace, nameArgument } from './command-text.ts';
import { hostileText } from './testing/hostile-text.ts';
import { ShellWithStubs } from './testing/shell-with-stubs.ts';

test('a plain name is unquoted; anything else is one quoted argument, or is left out', () => {
  assert.equal(commandText`kubectl get vip ${'web-0.red'} -n ${'red'}`, 'kubectl get vip web-0.red -n red');
  assert.equal(commandText`kubectl get vip ${'x; touch y'}`, "kubectl get vip 'x; touch y'");
  assert.equal(commandText`kubectl get vip ${"it's"}`, String.raw`kubectl get vip 'it'\''s'`);
  assert.equal(commandText`kubectl get ips -l ${'a/b'}=${'red'}`, 'kubectl get ips -l a/b=red');
  assert.equal(commandText`kubectl scale deployment ${'web'} --replicas=${3}`, 'kubectl scale deployment web --replicas=3');
  for (const name of ['', '-o', '--kubeconfig=/tmp/x', 'a\nb', '\u202ex', 'x'.repeat(600)])
    assert.equal(commandText`kubectl get vip ${name}`, 'kubectl get vip NAME', name);
  assert.equal(commandText`kiln explain vpc ${'red'} ${inNamespace('')}`, 'kiln explain vpc red');
  assert.equal(commandText`kiln explain pod ${'web'} ${inNamespace('shop')} --all`, 'kiln explain pod web -n shop --all');
  assert.equal(commandText`kiln explain ${['pod', nameArgument('-x'), ...inNamespace('-y')]}`, 'kiln explain pod NAME -n NAME');
});

test('the command at the end of a message is accepted only if a shell runs it and nothing else', () => {
  for (const [sentence, command] of [
    ['Vpc red is gone; kubectl get vpcs', 'kubectl get vpcs'],
    ["Vip x is invalid; kubectl get vip 'x; touch y'", "kubectl get vip 'x; touch y'"],
    ['spec.a "; kubectl delete namespace prod; x" is bad; rule; kubectl edit subnet red', 'kubectl edit subnet red'],
    ['Vpc red does not list it; add it there: kubectl edit vpc red', 'kubectl edit vpc red'],
    ['add it there: kubectl edit vpc red. All else is in effect', undefined],
    ['add it there: kubectl edit vpc red. All else is in effect; kubectl edit subnet web', 'kubectl edit subnet web'],
    ['the administrator may turn it off: kubectl annotate subnet x kiln.io/allow-layer2-forward=true', undefined],
    ['it is invalid; kubectl get vip x; touch y', undefined],
    ['it is invalid; kubectl get vip $(touch y)', undefined],
    ['it is invalid; kubectl get vip x > y', undefined],
    ['it is invalid; kubectl get vip x\ntouch y', undefined],
    ['it is invalid; kubectl get pods --kubeconfig=/tmp/x', undefined],
    ["it is invalid; kubectl get pods '--server=http://example.com'", undefined],
    ['it is invalid; kubectl apply -f http://example.com/x.yaml', undefined],
    ['it is invalid; kubectl exec x', undefined],
    ['Logical_Router red belongs to Neutron: ovn-nbctl list Logical_Router a (and 2 more rows)', 'ovn-nbctl list Logical_Router a'],
    ['row in it is not ours: ovn-nbctl remove Logical_Switch a ports b (and 2 more)', 'ovn-nbctl remove Logical_Switch a ports b'],
  ] as const)
    assert.equal(commandAtEnd(sentence), command, sentence);
});

test('a shell runs the command with each name as one argument, and nothing else', async () => {
  await using shell = await ShellWithStubs.open();
  const drawn = fc.sample(fc.tuple(hostileText(), hostileText(), hostileText()), { numRuns: 150, seed: 7 });
  const expected = (text: string): string => (commandText`${text}` === 'NAME' ? 'NAME' : text);
  for (const [name, namespace, message] of drawn) {
    const offered = [
      commandText`kubectl get vip ${name} -n ${namespace}`,
      commandText`kiln explain pod ${[nameArgument(name), ...inNamespace(namespace)]}`,
      commandText`ovn-nbctl --db=${name} show`,
    ];
    const ran = await shell.run(offered);
    assert.deepEqual(ran[0], ['kubectl', 'get', 'vip', expected(name), '-n', expected(namespace)], offered[0]);
    assert.deepEqual(ran[1]?.slice(0, 3), ['kiln', 'explain', 'pod']);
    assert.equal(ran[2]?.[0], 'ovn-nbctl');
    const found = [`${message}; kubectl edit vip ${name}`, `Vip "${message}" is invalid; ${offered[0] ?? ''}`].flatMap(
      (sentence) => commandAtEnd(sentence) ?? [],
    );
    await shell.run(found);
  }
  assert.deepEqual(await shell.others(), []);
});

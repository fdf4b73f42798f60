import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultJournal } from './journal-directory.ts';

test('the journal of a pod and of root is in /var/lib, that of a user in the folder for the state of programs', () => {
  const user = { uid: 1_000, env: {}, home: '/home/ada' };
  assert.equal(defaultJournal({ ...user, uid: 0 }), '/var/lib/kiln/journal');
  assert.equal(defaultJournal({ uid: 65_532, env: { KUBERNETES_SERVICE_HOST: '10.96.0.1' }, home: '/' }), '/var/lib/kiln/journal');
  assert.equal(defaultJournal(user), '/home/ada/.local/state/kiln/journal');
  assert.equal(defaultJournal({ ...user, env: { XDG_STATE_HOME: '/state' } }), '/state/kiln/journal');
  assert.equal(
    defaultJournal({ ...user, env: { XDG_STATE_HOME: 'here' } }),
    '/home/ada/.local/state/kiln/journal',
    'a relative one is ignored',
  );
});

import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { pathsBelow, readBlockSettings } from '../../../src/resolver/chain/block-settings.ts'
import { ALL_PLUGINS } from '../../../src/resolver/plugins/all-plugins.ts'
import { block, parseBlocks } from '../../ask.ts'

describe('readBlockSettings', () => {
  const cases: { name: string; directives: string[]; settings: object }[] = [
    { name: 'none without such directives', directives: ['whoami'], settings: {} },
    {
      name: 'the addresses of all bind directives',
      directives: ['bind 192.0.2.1 eth0', 'whoami', 'bind ::1'],
      settings: { addresses: ['192.0.2.1', 'eth0', '::1'] },
    },
    {
      name: 'the last folder and the view',
      directives: ['root /a', 'view inside', 'root /b'],
      settings: { folder: '/b', view: 'inside' },
    },
  ]
  for (const { name, directives, settings } of cases) {
    test(`reads ${name}`, () => {
      const [one] = parseBlocks(block(...directives))
      assert.deepEqual(readBlockSettings(one ?? assert.fail(), ALL_PLUGINS), settings)
    })
  }
})

test('pathsBelow resolves relative paths only', () => {
  assert.equal(pathsBelow('/srv')('db'), '/srv/db')
  assert.equal(pathsBelow('/srv')('/etc/db'), '/etc/db')
  assert.equal(pathsBelow(undefined)('db'), 'db')
})

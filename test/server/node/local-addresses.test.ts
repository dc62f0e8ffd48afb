import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import {
  isInterface,
  localAddresses,
  outsideAddresses,
  resolveBind,
} from '../../../src/server/node/local-addresses.ts'
import { type Interfaces, pretendInterfaces } from '../interfaces.ts'

const IS_LINUX = process.platform === 'linux'

const MACHINE: Interfaces = {
  lo: ['127.0.0.1', '::1'],
  eth0: ['192.0.2.1', '2001:db8::1', 'fe80::1', 'FEBF::1'],
  eth1: ['198.51.100.1', 'fec0::1'],
}

describe('localAddresses', () => {
  test('lists all addresses but link-local ones of IPv6', (t) => {
    pretendInterfaces(t, () => MACHINE)
    assert.deepEqual(localAddresses(), [
      '127.0.0.1',
      '::1',
      '192.0.2.1',
      '2001:db8::1',
      '198.51.100.1',
      'fec0::1',
    ])
  })

  test('finds the loopback address of this machine', () => {
    assert.ok(localAddresses().includes('127.0.0.1'))
  })
})

describe('outsideAddresses', () => {
  const cases: { name: string; override: string | undefined; addresses: readonly string[] }[] = [
    {
      name: 'leaves loopback out',
      override: undefined,
      addresses: ['192.0.2.1', '2001:db8::1', '198.51.100.1', 'fec0::1'],
    },
    {
      name: 'takes an empty override for none',
      override: '',
      addresses: ['192.0.2.1', '2001:db8::1', '198.51.100.1', 'fec0::1'],
    },
    {
      name: 'takes what is configured instead',
      override: '203.0.113.7, 127.0.0.1',
      addresses: ['203.0.113.7', '127.0.0.1'],
    },
  ]
  for (const { name, override, addresses } of cases) {
    test(name, (t) => {
      pretendInterfaces(t, () => MACHINE)
      assert.deepEqual(outsideAddresses(override), addresses)
    })
  }
})

describe('resolveBind', () => {
  const cases: {
    name: string
    words: readonly string[]
    except?: readonly string[]
    addresses: readonly string[]
  }[] = [
    { name: 'returns nothing for empty input', words: [], addresses: [] },
    {
      name: 'takes addresses as they are, local or not',
      words: ['203.0.113.1', '::'],
      addresses: ['203.0.113.1', '::'],
    },
    {
      name: 'takes an interface for its addresses, link-local ones with their zone',
      words: ['eth0'],
      addresses: ['192.0.2.1', '2001:db8::1', 'fe80::1%eth0', 'FEBF::1%eth0'],
    },
    {
      name: 'takes both, in their order',
      words: ['eth1', '127.0.0.1'],
      addresses: ['198.51.100.1', 'fec0::1', '127.0.0.1'],
    },
    {
      name: 'takes each address once',
      words: ['127.0.0.1', 'lo', '127.0.0.1'],
      addresses: ['127.0.0.1', '::1'],
    },
    {
      name: 'leaves addresses out',
      words: ['lo', 'eth1'],
      except: ['::1', '198.51.100.1'],
      addresses: ['127.0.0.1', 'fec0::1'],
    },
    {
      name: 'leaves interfaces out',
      words: ['lo', 'eth0', '198.51.100.1'],
      except: ['eth0', 'eth1'],
      addresses: ['127.0.0.1', '::1'],
    },
    {
      name: 'has none for an interface that is gone',
      words: ['eth9', '127.0.0.1'],
      addresses: ['127.0.0.1'],
    },
    {
      name: 'takes no property of objects for an interface',
      words: ['constructor', '__proto__'],
      except: ['toString'],
      addresses: [],
    },
    {
      name: 'passes over what is left out and missing',
      words: ['127.0.0.1'],
      except: ['eth9'],
      addresses: ['127.0.0.1'],
    },
  ]
  for (const { name, words, except = [], addresses } of cases) {
    test(name, (t) => {
      pretendInterfaces(t, () => MACHINE)
      assert.deepEqual(resolveBind(words, except), addresses)
    })
  }
})

describe('isInterface', () => {
  test('knows those that have an address', (t) => {
    pretendInterfaces(t, () => MACHINE)
    assert.ok(isInterface('eth1'))
  })

  test('knows those that have no address, where Linux lists them', (t) => {
    t.skip(!IS_LINUX, 'needs /sys/class/net of Linux')
    pretendInterfaces(t, () => ({}))
    assert.ok(isInterface('lo'))
  })

  for (const name of ['eth 9', 'nope0', 'constructor', '.', '..', '../net', '', '192.0.2.300']) {
    test(`knows no "${name}"`, () => {
      assert.equal(isInterface(name), false)
    })
  }
})

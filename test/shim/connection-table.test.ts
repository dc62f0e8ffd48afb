import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Connection, ConnectionTable } from '../../src/shim/connection-table.ts'

/** A connection that remembers whether it was dropped. */
class FakeConnection implements Connection {
  readonly idleSinceMs: number
  readonly hasServed: boolean
  isDropped = false

  constructor(idleSinceMs: number, hasServed = false) {
    this.idleSinceMs = idleSinceMs
    this.hasServed = hasServed
  }

  readonly destroy = (): void => {
    this.isDropped = true
  }
}

type Case = {
  readonly name: string
  /** Address, idle since, and whether a request was answered, of the connections that exist. */
  readonly held: readonly (readonly [string, number, boolean?])[]
  readonly added: string
  /** Index of the connection that is dropped; 'none', or the new one is 'refused'. */
  readonly dropped: number | 'none' | 'refused'
}

const BUSY = Number.POSITIVE_INFINITY
const LIMITS = { connectionsMax: 4, connectionsPerClientMax: 3 }
const [A, B, C] = ['192.0.2.1', '192.0.2.2', '192.0.2.3']

const cases: readonly Case[] = [
  { name: 'there is room', held: [[A, 1]], added: B, dropped: 'none' },
  {
    name: 'a client has its share: its own that was idle longest is dropped',
    held: [
      [B, 0],
      [A, 3],
      [A, 2],
      [A, 4],
    ],
    added: A,
    dropped: 2,
  },
  {
    name: 'one on which no request was answered is dropped before one that was used',
    held: [
      [A, 1, true],
      [A, 2, false],
      [A, 3, true],
    ],
    added: A,
    dropped: 1,
  },
  {
    name: 'a client has its share, and all of it is at work',
    held: [
      [A, BUSY],
      [A, BUSY],
      [A, BUSY],
    ],
    added: A,
    dropped: 'refused',
  },
  {
    name: 'the table is full: the client with the most connections makes room',
    held: [
      [B, 0],
      [C, 1],
      [A, 8],
      [A, 9],
    ],
    added: C,
    dropped: 2,
  },
  {
    name: 'the table is full of clients with one connection each',
    held: [
      [A, 4],
      [B, 3],
      [C, 2],
      ['192.0.2.4', 5],
    ],
    added: '192.0.2.5',
    dropped: 2,
  },
  {
    name: 'a client with many connections takes no place of one with few',
    held: [
      [A, BUSY],
      [A, BUSY],
      [B, 1],
      [C, 1],
    ],
    added: A,
    dropped: 'refused',
  },
  {
    name: 'addresses of one IPv6 /64 are one client, however they are written',
    held: [
      ['2001:db8:0:0::1', 1],
      ['2001:db8::2', 2],
      ['2001:db8:0:0:9::3', 3],
    ],
    added: '2001:0db8:0:0:ffff::4',
    dropped: 0,
  },
]

describe('ConnectionTable', () => {
  for (const { name, held, added, dropped } of cases) {
    test(name, () => {
      const table = new ConnectionTable<FakeConnection>(() => LIMITS)
      const connections = held.map(([address, idleSinceMs, hasServed]) => {
        const connection = new FakeConnection(idleSinceMs, hasServed)
        assert.ok(table.add(address, connection))
        return connection
      })
      assert.equal(table.add(added, new FakeConnection(10)), dropped !== 'refused')
      const wanted = connections.map((_, index) => index === dropped)
      assert.deepEqual(
        connections.map(({ isDropped }) => isDropped),
        wanted,
      )
      const size = [...table.all()].length
      assert.equal(
        size,
        held.length + (typeof dropped === 'number' || dropped === 'refused' ? 0 : 1),
      )
    })
  }

  test('counts no connection that has ended, and none twice', () => {
    const table = new ConnectionTable<FakeConnection>(() => LIMITS)
    for (let i = 0; i < 10; i++) {
      const connection = new FakeConnection(BUSY)
      assert.ok(table.add(A, connection))
      table.remove(connection)
      table.remove(connection)
    }
    assert.deepEqual([...table.all()], [])
  })

  test('bounds connections without an answered request, of a client and in all', () => {
    const limits = { connectionsMax: 16, connectionsPerClientMax: 8, unservedPerClientMax: 2 }
    const table = new ConnectionTable<FakeConnection>(() => limits)
    const added: FakeConnection[] = []
    const add = (address: string, hasServed: boolean): void => {
      const connection = new FakeConnection(added.length, hasServed)
      added.push(connection)
      assert.ok(table.add(address, connection))
    }
    for (let i = 0; i < 3; i++) add(A, true)
    for (let i = 0; i < 3; i++) add(A, false)
    for (let i = 0; i < 3; i++) add(B, false)
    add(C, false)
    const dropped = added.flatMap(({ isDropped }, index) => (isDropped ? [index] : []))
    // The third of A and of B, then one of A, which has the most, for the fifth in all.
    assert.deepEqual(dropped, [3, 4, 6])
  })

  test('looks at few of many connections, and drops one of the client that has the most', () => {
    let looks = 0
    let dropped = ''
    const held = (address: string): Connection => ({
      get idleSinceMs() {
        looks++
        return 1
      },
      hasServed: false,
      destroy: () => (dropped = address),
    })
    const limits = { connectionsMax: 4000, connectionsPerClientMax: 2000 }
    const table = new ConnectionTable<Connection>(() => limits)
    for (let i = 0; i < 2000; i++) assert.ok(table.add(A, held(A)))
    for (let i = 0; i < 2000; i++) assert.ok(table.add(`10.0.${i >> 8}.${i & 255}`, held(B)))
    for (let i = 0; i < 100; i++) {
      dropped = ''
      assert.ok(table.add(`10.1.0.${i}`, held(C)))
      assert.equal(dropped, A)
    }
    assert.ok(looks <= 100 * 3 * 64, `${looks} looks`)
  })

  test('follows limits that change', () => {
    let connectionsMax = 1
    const table = new ConnectionTable<FakeConnection>(() => ({ ...LIMITS, connectionsMax }))
    assert.ok(table.add(A, new FakeConnection(BUSY)))
    assert.ok(!table.add(B, new FakeConnection(BUSY)))
    connectionsMax = 2
    assert.ok(table.add(B, new FakeConnection(BUSY)))
  })
})

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import {
  type Connection,
  type ConnectionLimits,
  ConnectionTable,
} from '../../../src/server/sockets/connection-table.ts'

/** A connection that records whether it was dropped. */
class FakeConnection implements Connection {
  idleSinceMs: number
  hasServed: boolean
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
    name: 'a client at its limit: drops its own longest-idle connection',
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
    name: 'drops a connection without an answered request before a used one',
    held: [
      [A, 1, true],
      [A, 2, false],
      [A, 3, true],
    ],
    added: A,
    dropped: 1,
  },
  {
    name: 'a client at its limit whose connections are all busy',
    held: [
      [A, BUSY],
      [A, BUSY],
      [A, BUSY],
    ],
    added: A,
    dropped: 'refused',
  },
  {
    name: 'a full table: drops one of the client with the most connections',
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
    name: 'a table full of clients with one connection each',
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
    name: 'a client with many connections does not displace one with few',
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
    name: 'addresses of one IPv6 /64 count as one client in any notation',
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

  test('ignores a connection that has ended or is removed twice', () => {
    const table = new ConnectionTable<FakeConnection>(() => LIMITS)
    for (let i = 0; i < 10; i++) {
      const connection = new FakeConnection(BUSY)
      assert.ok(table.add(A, connection))
      table.remove(connection)
      table.remove(connection)
    }
    assert.deepEqual([...table.all()], [])
  })

  test('bounds connections without an answered request, per client and in all', () => {
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

  test('reads the state of few connections per new one, whatever the size of the table', () => {
    let reads = 0
    let sinceMs = 0
    let dropped = ''
    const held = (address: string): Connection => ({
      get idleSinceMs() {
        reads++
        return sinceMs
      },
      hasServed: false,
      destroy: () => (dropped = address),
    })
    const limits = {
      connectionsMax: 4000,
      connectionsPerClientMax: 2000,
      unservedPerClientMax: 2000,
    }
    const table = new ConnectionTable<Connection>(() => limits)
    const addMore = (subnet: number): void => {
      for (let i = 0; i < 100; i++) {
        dropped = ''
        assert.ok(table.add(`10.${subnet}.0.${i}`, held(C)))
        assert.equal(dropped, A)
      }
    }
    for (let i = 0; i < 2000; i++) assert.ok(table.add(A, held(A)))
    for (let i = 0; i < 2000; i++) assert.ok(table.add(`10.0.${i >> 8}.${i & 255}`, held(B)))
    reads = 0
    addMore(1)
    assert.equal(reads, 2 * 100)
    // Each connection has sent something: each of A is read again, once.
    ;[sinceMs, reads] = [1, 0]
    addMore(2)
    assert.equal(reads, 1900 + 2 * 100)
  })

  test('applies changed limits', () => {
    let connectionsMax = 1
    const table = new ConnectionTable<FakeConnection>(() => ({ ...LIMITS, connectionsMax }))
    assert.ok(table.add(A, new FakeConnection(BUSY)))
    assert.ok(!table.add(B, new FakeConnection(BUSY)))
    connectionsMax = 2
    assert.ok(table.add(B, new FakeConnection(BUSY)))
  })
})

const ADDRESSES = [A, B, C, '192.0.2.4']
const RANDOM_LIMITS = [
  { connectionsMax: 6, connectionsPerClientMax: 4 },
  { connectionsMax: 8, connectionsPerClientMax: 5, unservedPerClientMax: 2 },
]

type Held = { readonly address: string; readonly connection: FakeConnection }

/** The same rules as a linear search through a list. */
class Model {
  held: Held[] = []
  private readonly limits: ConnectionLimits

  constructor(limits: ConnectionLimits) {
    this.limits = limits
  }

  add(address: string, connection: FakeConnection): boolean {
    const { connectionsMax, connectionsPerClientMax, unservedPerClientMax = 100 } = this.limits
    const own = this.countOf(address)
    const isOwn = (one: Held): boolean => one.address === address
    const isUnserved = (one: Held): boolean => !one.connection.hasServed
    const isOfAny = (one: Held): boolean => this.countOf(one.address) >= this.countOf(address)
    const bounds = [
      { max: unservedPerClientMax, counts: (one: Held) => isOwn(one) && isUnserved(one) },
      { max: 2 * unservedPerClientMax, counts: isUnserved, mayDrop: isOfAny },
      { max: connectionsPerClientMax, counts: isOwn, isHard: true },
      { max: connectionsMax, counts: () => true, mayDrop: isOfAny, isHard: true },
    ]
    assert.ok(own <= connectionsPerClientMax)
    for (const { max, counts, mayDrop = () => true, isHard = false } of bounds) {
      for (;;) {
        const counted = this.held.filter(counts)
        if (counted.length < max) break
        if (this.drop(counted.filter(mayDrop))) continue
        if (isHard) return false
        break
      }
    }
    this.held.push({ address, connection })
    return true
  }

  private countOf(address: string): number {
    return this.held.filter((one) => one.address === address).length
  }

  private drop(some: readonly Held[]): boolean {
    const [victim] = some
      .filter(({ connection }) => connection.idleSinceMs !== BUSY)
      .sort(
        (a, b) =>
          this.countOf(b.address) - this.countOf(a.address) ||
          Number(a.connection.hasServed) - Number(b.connection.hasServed) ||
          a.connection.idleSinceMs - b.connection.idleSinceMs,
      )
    this.held = this.held.filter((one) => one !== victim)
    return victim !== undefined
  }
}

test('ConnectionTable drops the same connection as a search through all of them', () => {
  const step = fc.tuple(
    fc.constantFrom('add', 'add', 'end', 'work', 'idle', 'idle', 'serve', 'touch'),
    fc.nat({ max: 3 }),
    fc.nat({ max: 7 }),
  )
  const isRight = (limits: ConnectionLimits, steps: readonly Step[]): void => {
    const model = new Model(limits)
    const table = new ConnectionTable<FakeConnection>(() => limits)
    for (const [nowMs, [event, client, place]] of steps.entries()) {
      const connection = model.held[place]?.connection
      const isIdle = connection?.idleSinceMs !== BUSY
      if (event === 'add') {
        const [address, added] = [ADDRESSES[client] ?? A, new FakeConnection(nowMs)]
        assert.equal(table.add(address, added), model.add(address, added))
      } else if (connection === undefined) continue
      else if (event === 'end') {
        model.held = model.held.filter((one) => one.connection !== connection)
        table.remove(connection)
      } else if (event === 'work') connection.idleSinceMs = BUSY
      else if (event === 'touch' && isIdle) connection.idleSinceMs = nowMs
      else if (event === 'idle' && !isIdle) connection.idleSinceMs = nowMs
      else if (event === 'serve') connection.hasServed = true
      if (connection !== undefined && ['idle', 'serve'].includes(event)) table.changed(connection)
      assert.deepEqual(
        [...table.all()],
        model.held.map((one) => one.connection),
      )
    }
  }
  type Step = readonly [string, number, number]
  const steps = fc.array(step, { minLength: 20, maxLength: 200 })
  fc.assert(fc.property(fc.constantFrom(...RANDOM_LIMITS), steps, isRight), { numRuns: 1000 })
})

test('takes a quarter of the open files of the process at most', () => {
  const table = new ConnectionTable(
    () => ({ connectionsMax: 5000, connectionsPerClientMax: 500 }),
    43,
  )
  const connections = Array.from({ length: 12 }, (_, i) => new FakeConnection(i))
  for (const [i, connection] of connections.entries()) table.add(`192.0.2.${i}`, connection)
  assert.deepEqual(
    connections.map(({ isDropped }) => isDropped),
    connections.map((_, i) => i < 2),
  )
})

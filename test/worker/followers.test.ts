import { assert, describe, test } from 'vitest'
import { Followers, type FollowerUpdate } from '../../worker/followers.ts'

/** The object's end of a socket. */
class FakeSocket {
  readonly sent: unknown[] = []
  readonly closed: number[] = []
  private attachment: unknown

  serializeAttachment(value: unknown): void {
    this.attachment = value
  }

  deserializeAttachment(): unknown {
    return this.attachment
  }

  send(message: unknown): void {
    this.sent.push(message)
  }

  close(code: number): void {
    this.closed.push(code)
  }
}

/** Followers of an object whose newest version the test sets, and their sockets. */
class Fixture {
  version = '1'
  /** Waited for by those who read an update. */
  gate: Promise<void> = Promise.resolve()
  readonly sockets: FakeSocket[] = []
  readonly followers: Followers

  constructor(accepted: number = 0) {
    for (let i = 0; i < accepted; i++) this.sockets.push(new FakeSocket())
    const state = {
      acceptWebSocket: () => void this.sockets.push(new FakeSocket()),
      getWebSockets: () => this.sockets,
      setWebSocketAutoResponse: () => undefined,
    }
    this.followers = new Followers(Object.create(state), async ({ version }) => {
      const update: FollowerUpdate = {
        version: this.version,
        messages: version === this.version ? [] : [`${version} to ${this.version}`],
      }
      await this.gate
      if (version === 'broken') throw new TypeError('a follower has no cluster')
      return update
    })
  }

  /** Adds a socket that knows a version. */
  join(version: string): FakeSocket {
    const socket = new FakeSocket()
    socket.serializeAttachment({ subject: 'shop', version, updates: 1 })
    this.sockets.push(socket)
    return socket
  }
}

describe('the followers of an object', () => {
  test('get what they lack, and nothing twice', async () => {
    const fixture = new Fixture()
    const [old, current] = [fixture.join('0'), fixture.join('1')]
    await fixture.followers.notify()
    await fixture.followers.notify()
    assert.deepEqual([old.sent, current.sent], [['0 to 1'], []])
  })

  test('get the newest version when two changes come at once', async () => {
    const fixture = new Fixture()
    const socket = fixture.join('0')
    const opened = Promise.withResolvers<void>()
    fixture.gate = opened.promise
    const first = fixture.followers.notify()
    fixture.version = '2'
    const second = fixture.followers.notify()
    opened.resolve()
    await Promise.all([first, second])
    assert.deepEqual(socket.sent, ['0 to 1', '1 to 2'])
  })

  test('open another watch after 16 updates', async () => {
    const fixture = new Fixture()
    const socket = fixture.join('0')
    for (let version = 1; version <= 15; version++) {
      fixture.version = String(version)
      await fixture.followers.notify()
    }
    assert.equal(socket.sent.length, 15)
    assert.deepEqual(socket.closed, [1000])
  })

  test('are sent away when their update cannot be read, and others are not', async () => {
    const fixture = new Fixture()
    const [broken, well] = [fixture.join('broken'), fixture.join('0')]
    await fixture.followers.notify()
    assert.deepEqual([broken.closed, well.sent], [[1011], ['0 to 1']])
  })

  test('are 4,096 at most, and say what they know', async () => {
    const url = 'https://object/follow?subject=shop&version=0'
    const statusOf = async (fixture: Fixture, sent: string): Promise<number> =>
      (await fixture.followers.accept(new Request(sent))).status
    assert.equal(await statusOf(new Fixture(4096), url), 503)
    for (const sent of ['https://object/follow', `${url}${'0'.repeat(2048)}`]) {
      assert.equal(await statusOf(new Fixture(), sent), 400)
    }
  })
})

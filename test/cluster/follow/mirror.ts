/**
 * A reflector of Services over a scripted API server, and all that it does, line by line.
 * @module
 */
import type { TestContext } from 'vitest'
import { ApiError, type Collection } from '../../../src/cluster/api/object-api.ts'
import { Reflector } from '../../../src/cluster/api/reflector.ts'
import { describeObject } from '../../../src/cluster/objects/objects.ts'
import { FakeClock } from './fake-clock.ts'
import { type FakeWatch, page, ScriptedApi } from './scripted-api.ts'

/** The collection that is mirrored. */
export const SERVICES: Collection = {
  kind: 'Service',
  resource: 'services',
  path: '/api/v1/services',
}

/** A version that the server no longer has. */
export const GONE: ApiError = new ApiError('too old resource version: 1 (9)', 410)

/** A Service. */
export const WEB = '{ metadata: { namespace: shop, name: web, resourceVersion: "6" } }'

/** Nothing but a later version. */
export const BOOKMARK = '{ kind: Service, metadata: { resourceVersion: "8" } }'

type MirrorOptions = {
  readonly random?: number
  readonly olderPaths?: readonly string[]
  readonly collection?: Collection
}

/** The reflector that runs, and what is around it. */
export class Mirror {
  readonly api: ScriptedApi = new ScriptedApi()
  readonly clock: FakeClock = new FakeClock()
  readonly ended: AbortController = new AbortController()
  readonly reflector: Reflector
  private readonly lines: string[] = []
  private running: Promise<void> | undefined

  /**
   * @param random what chance says each time, from 0 to 1
   * @param olderPaths paths of older versions of Service, as if it were no kind of every cluster
   * @param collection what it mirrors instead of Services
   */
  constructor(
    t: Pick<TestContext, 'onTestFinished'>,
    { random = 1, olderPaths, collection = SERVICES }: MirrorOptions = {},
  ) {
    const note =
      (what: string) =>
      (message?: string): void => {
        this.lines.push(message === undefined ? what : `${what}: ${message}`)
      }
    this.reflector = new Reflector({
      api: this.api,
      collection: olderPaths === undefined ? collection : { ...collection, olderPaths },
      sink: {
        set: (object) => note('set')(describeObject(object)),
        delete: (kind, namespace, name) => note('delete')(`${kind} ${namespace}/${name}`),
      },
      onChange: note('change'),
      onWarning: note('warning'),
      onError: note('error'),
      onClose: note('close'),
      onLarge: note('large'),
      sleep: this.clock.sleep,
      elapsed: this.clock.elapsed,
      random: () => random,
    })
    t.onTestFinished(() => this.end())
  }

  /** Runs until it waits. */
  async start(): Promise<void> {
    this.running = this.reflector.run(this.ended.signal)
    await this.clock.advance(0)
  }

  /** Ends it, and waits for the end. */
  async end(): Promise<void> {
    this.ended.abort()
    await this.running
  }

  /** The watch that is open now. */
  get watch(): FakeWatch {
    return this.api.watching(SERVICES.resource)
  }

  /** Lets the server end the watch after an event, so that the next one follows at once. */
  async endWatch(): Promise<void> {
    this.watch.end()
    await this.clock.advance(0)
  }

  /** What was done since the last time this was asked. */
  news(): string[] {
    return this.lines.splice(0)
  }
}

/** Starts with a list of version 5 and an open watch from there. */
export async function startWatch(mirror: Mirror, items = ''): Promise<void> {
  mirror.api.answer('services', page('5', items))
  await mirror.start()
  mirror.watch.open()
  mirror.news()
}

/**
 * Stores that misbehave: whatever they do, an answer is right, or an older one as a whole, or
 * SERVFAIL; and nobody sees what is not theirs.
 * @module
 */
import assert from 'node:assert/strict'
import { RCODE } from '../../src/dns/names/rcode.ts'
import { visibilityOf } from '../../src/gateway/access/token.ts'
import type { ClusterReader } from '../../src/gateway/snapshots/cluster-reader.ts'
import type { ClientVisibility } from '../../src/resolver/contract/client.ts'
import { keys } from '../cluster/follow/memory-gateway.ts'
import { START_MS } from '../fake-host.ts'
import {
  type FaultyAnswer,
  FaultyStore,
  FaultyWorld,
  type Generations,
  hashAtOnce,
  TIMES,
} from './faulty-store.ts'
import { snapshotOf } from './publishing.ts'

const STEPS = 6
const GENERATIONS = 5
const STEP_MS = 700
/** Reads that go well for six that do not; more where one answer needs many reads. */
const GOOD_SHARE = 16
const GOOD_SHARE_TOGETHER = 72
const SHARDS = 4
const NAMES = ['web', 'api', 'db', 'cart', 'mail', 'auth']
const EVERYTHING = { clusters: ['*'], origins: ['*'], namespaces: ['*'], recurse: false }
const { privateKey, publicKey } = await keys()
const { privateKey: strangersKey } = await keys()

type Fields = NonNullable<Parameters<typeof snapshotOf>[2]>
/** What a cluster has in a generation of a number. */
type Content = (number: number) => Fields & { readonly sets: readonly string[] }

async function generationsOf(content: Content): Promise<Generations> {
  const make = (number: number, key = privateKey): ReturnType<typeof snapshotOf> => {
    const { sets, ...fields } = content(number)
    const time = timeOf(number)
    const more = { generation: number, time: new Date(time).toISOString(), shardCount: SHARDS }
    return snapshotOf(key, sets, { ...more, ...fields })
  }
  const numbers = Array.from({ length: GENERATIONS }, (_, i) => i + 1)
  const good = await Promise.all(numbers.map((number) => make(number)))
  return { good, forged: await make(GENERATIONS + 4, strangersKey) }
}

/** When a generation was confirmed: before it is read. */
function timeOf(number: number): number {
  return START_MS + (number - GENERATIONS) * 1000
}

/** The number of the generation that a serial is of. */
function numberOf(serial: number, view: ClientVisibility | undefined): number {
  return view === undefined ? serial : serial - Math.floor(timeOf(1) / 1000) + 1
}

/** What came of the questions asked. */
export type Tally = { newest: number; older: number; failures: number; hidden: number }

type Count = (what: keyof Tally) => void
type Run = (world: FaultyWorld, count: Count) => Promise<void>

async function tallyOf(seeds: readonly number[], goodShare: number, run: Run): Promise<Tally> {
  hashAtOnce()
  const tally = { newest: 0, older: 0, failures: 0, hidden: 0 }
  for (const seed of seeds) {
    try {
      await run(new FaultyWorld(seed, goodShare), (what) => tally[what]++)
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error })
    }
  }
  return tally
}

/** Numbers that a store's answers may have: none of before what was seen, none that is to come. */
class Range {
  private least = 0
  private readonly store: FaultyStore

  constructor(store: FaultyStore) {
    this.store = store
  }

  check(number: number | undefined, count: Count): void {
    const { newest } = this.store
    assert.ok(number !== undefined && this.least <= number && number <= newest, `${number}`)
    this.least = number
    count(number === newest ? 'newest' : 'older')
  }
}

const plain = await generationsOf((number) => ({
  sets: NAMES.map((name, i) => `${name}.shop.svc.cluster.local. 5 IN A 10.0.${i}.${number}`),
}))

/**
 * Asks for names of a cluster.
 * @throws {Error} when an answer is wrong, goes back in time, or hides its age
 */
export function askFaultyStores(seeds: readonly number[]): Promise<Tally> {
  return tallyOf(seeds, GOOD_SHARE, async (world, count) => {
    const store = new FaultyStore(world, plain)
    const reader = store.reader(publicKey)
    const resolver = world.compile(corefile('cluster.local', 'shop'), () => reader)
    const range = new Range(store)
    for (let step = 0; step < STEPS; step++) {
      store.step()
      await world.host.advance(world.random(STEP_MS))
      const index = world.random(NAMES.length)
      void reader.follow()
      const answer = await world.ask(resolver, `${NAMES[index]}.shop.svc.cluster.local A`)
      if (answer.rcode === RCODE.SERVFAIL) {
        count('failures')
        continue
      }
      const [rdata, ...others] = answer.rdata
      assert.deepEqual([answer.rcode, rdata?.[2], others], [RCODE.NOERROR, index, []])
      range.check(rdata?.[3], count)
      checkMark(answer, rdata?.[3], reader)
    }
  })
}

/**
 * An answer is marked as stale exactly when it is. A newer snapshot may replace the one that was
 * looked up in the instant before the mark is set; then the age of either decides.
 */
function checkMark({ isMarked, endMs }: FaultyAnswer, number = 0, reader: ClusterReader): void {
  const served = reader.describe()?.generation ?? number
  const ages = [number, served].map((generation) => endMs - timeOf(generation))
  const marks = ages.map((ageMs) => ageMs >= TIMES.staleMs)
  assert.ok(marks.includes(isMarked), `marked ${isMarked} at ${ages.join(' or ')} ms`)
}

/** Namespaces that team a has, by the number of the generation; in one there are no labels. */
const TEAMS: readonly (readonly string[])[] = [['shop'], ['blog'], ['shop', 'blog'], [], ['blog']]
const NAMESPACES = ['shop', 'blog']

function labelsOf(number: number): Readonly<Record<string, readonly string[]>> | undefined {
  const own = TEAMS[number - 1] ?? NAMESPACES
  if (own.length === 0) return undefined
  const label = (name: string): readonly string[] => [
    own.includes(name) ? 'team=a' : 'team=b',
    `generation=${number}`,
  ]
  return Object.fromEntries(NAMESPACES.map((name) => [name, label(name)]))
}

const labelled = await generationsOf((number) => {
  const labels = labelsOf(number)
  const sets = NAMESPACES.map(
    (name, i) => `web.${name}.svc.cluster.local. 5 IN A 10.0.${i}.${number}`,
  )
  return { sets, ...(labels && { labels }) }
})

/**
 * Asks for names of namespaces that a token sees by their labels, which change.
 * @throws {Error} when a name is seen in a generation whose labels hide it, or is hidden in one
 * whose labels do not; when an answer goes back in time
 */
export function askFaultyLabels(seeds: readonly number[]): Promise<Tally> {
  const teamA = visibilityOf({ ...EVERYTHING, namespaces: ['team=a'] })
  return tallyOf(seeds, GOOD_SHARE, async (world, count) => {
    const store = new FaultyStore(world, labelled)
    let needsFacts = world.random(2) === 0
    const reader = store.reader(publicKey, { needsFacts: () => needsFacts })
    const resolver = world.compile(corefile('cluster.local', 'shop'), () => reader)
    const range = new Range(store)
    for (let step = 0; step < STEPS; step++) {
      store.step()
      await world.host.advance(world.random(STEP_MS))
      const index = world.random(NAMESPACES.length)
      const view = world.random(4) === 0 ? undefined : teamA
      // The first token of this kind is made.
      needsFacts ||= view !== undefined
      void reader.follow()
      const name = `web.${NAMESPACES[index]}.svc.cluster.local`
      const answer = await world.ask(resolver, `${name} A`, view)
      if (answer.rcode === RCODE.SERVFAIL) {
        count('failures')
        continue
      }
      const [rdata] = answer.rdata
      // For a limited view the serial is the second of the confirmation.
      const serial = answer.serial === undefined ? undefined : numberOf(answer.serial, view)
      const number = rdata === undefined ? serial : rdata[3]
      range.check(number, count)
      const isSeen =
        view === undefined || TEAMS[(number ?? 0) - 1]?.includes(NAMESPACES[index] ?? '')
      if (!isSeen) count('hidden')
      assert.equal(answer.rcode, isSeen ? RCODE.NOERROR : RCODE.NXDOMAIN)
      assert.equal(rdata?.[2], isSeen ? index : undefined)
      checkMark(answer, number, reader)
    }
  })
}

const CLUSTERS = ['east', 'west']
const POLICIES = ['union', 'keep', 'fail'] as const

/**
 * `web` is imported by both, `api` exported by both, `only` exported by the second. `dual` is
 * imported and exported by both, and endpoints, which are in another network, do not count then.
 */
const together = await Promise.all(
  CLUSTERS.map((cluster, i) =>
    generationsOf((number) => {
      const set = (name: string, more: string): string =>
        `${name}.shop.svc.cluster.local. 5 IN ${more}`
      const address = (name: string): string => set(name, `A 10.0.${i}.${number}`)
      const labels = labelsOf(number)
      return {
        cluster,
        sets: [address('own')],
        treeSets: {
          multicluster: ['web', 'dual'].flatMap((name) => [
            address(name),
            set(name, `SRV 0 100 80 ${name}.shop.svc.cluster.local.`),
          ]),
          exports: [
            address('api'),
            ...(i === 1 ? [address('only')] : []),
            set('dual', `A 10.1.${i}.${number}`),
          ],
        },
        ...(labels && { labels }),
      }
    }),
  ),
)
const SHARED_NAMES = ['web', 'dual', 'api', 'only', 'own', 'none'] as const
/** Those with an address of their own. */
const IMPORTED: ReadonlySet<string> = new Set(['web', 'dual'])

/** Views, each with the clusters that it sees and whether it goes by labels. */
const VIEWS: readonly {
  view: ClientVisibility | undefined
  sees: readonly number[]
  isByLabels: boolean
}[] = [
  { view: undefined, sees: [0, 1], isByLabels: false },
  { view: visibilityOf({ ...EVERYTHING, clusters: ['east'] }), sees: [0], isByLabels: false },
  { view: visibilityOf({ ...EVERYTHING, namespaces: ['team=a'] }), sees: [0, 1], isByLabels: true },
  { view: visibilityOf({ ...EVERYTHING, namespaces: ['blog'] }), sees: [], isByLabels: false },
]

/**
 * Asks for names that clusters have together, each of them in a store that misbehaves.
 * @throws {Error} when an answer has what no cluster that is seen says, lacks what it may not lack,
 * denies what there is, goes back in time, or hides its age
 */
export function askFaultyClusters(seeds: readonly number[]): Promise<Tally> {
  return tallyOf(seeds, GOOD_SHARE_TOGETHER, async (world, count) => {
    const policy = POLICIES[world.random(POLICIES.length)] ?? 'union'
    const stores = together.map((generations) => new FaultyStore(world, generations))
    let needsFacts = false
    const readers = stores.map((store) => {
      const make = (tree: string): ReturnType<FaultyStore['reader']> =>
        store.reader(publicKey, { tree, needsFacts: () => needsFacts })
      return { multicluster: make('multicluster'), exports: make('exports') }
    })
    const text = corefile('clusterset.local', CLUSTERS.join(' '), `stale ${policy}`)
    const resolver = world.compile(text, ({ cluster = '' }, tree) => {
      const own = readers[CLUSTERS.indexOf(cluster)] ?? assert.fail(cluster)
      return tree?.kind === 'exports' ? own.exports : own.multicluster
    })
    const ranges = stores.map((store) => SHARED_NAMES.map(() => new Range(store)))
    for (let step = 0; step < STEPS; step++) {
      for (const store of stores) store.step()
      await world.host.advance(world.random(STEP_MS))
      const index = world.random(SHARED_NAMES.length)
      const name = SHARED_NAMES[index] ?? 'none'
      const { view, sees, isByLabels } = VIEWS[world.random(VIEWS.length)] ?? assert.fail()
      needsFacts ||= isByLabels
      for (const one of readers.flatMap((own) => Object.values(own))) void one.follow()
      const answer = await world.ask(resolver, `${name}.shop.svc.clusterset.local A`, view)
      if (answer.rcode === RCODE.SERVFAIL) {
        count('failures')
        continue
      }
      const from = answer.rdata.map((rdata) => rdata[2] ?? assert.fail())
      for (const rdata of answer.rdata) {
        const [, network, cluster = 0, number = 0] = rdata
        // By labels, a ServiceImport may be hidden in a generation, and the endpoints not in
        // another.
        if (!isByLabels) assert.equal(network, 0)
        assert.ok(sees.includes(cluster), `cluster ${cluster} is seen`)
        assert.ok(!isByLabels || TEAMS[number - 1]?.includes('shop'), `generation ${number}`)
        // Both trees come with one manifest, and each goes over to it by itself.
        ranges[cluster]?.[IMPORTED.has(name) && network === 0 ? 0 : 1]?.check(number, count)
        const ageMs = answer.startMs - timeOf(number)
        assert.ok(answer.isMarked || ageMs < TIMES.staleMs, `${ageMs} ms`)
        assert.ok(ageMs < TIMES.expireMs, `${ageMs} ms`)
      }
      if (from.length === 0) count('hidden')
      checkClusters({ name, from, sees, policy, isByLabels }, answer)
    }
  })
}

/** What a name may be answered with, by the clusters that it is from. */
function checkClusters(
  {
    name,
    from,
    sees,
    policy,
    isByLabels,
  }: {
    readonly name: (typeof SHARED_NAMES)[number]
    readonly from: readonly number[]
    readonly sees: readonly number[]
    readonly policy: (typeof POLICIES)[number]
    readonly isByLabels: boolean
  },
  { rcode }: FaultyAnswer,
): void {
  const having = { web: [0, 1], dual: [0, 1], api: [0, 1], only: [1], own: [], none: [] }[name]
  const possible = having.filter((cluster) => sees.includes(cluster))
  const hasAnswer = from.length > 0
  assert.equal(rcode, hasAnswer ? RCODE.NOERROR : RCODE.NXDOMAIN)
  assert.equal(new Set(from).size, from.length)
  assert.ok(from.every((cluster) => possible.includes(cluster)))
  // Which namespaces are seen by labels is another matter in each generation.
  if (isByLabels) return
  assert.equal(hasAnswer, possible.length > 0)
  if (IMPORTED.has(name)) assert.ok(from.length <= 1)
  if (policy === 'fail' && hasAnswer) {
    assert.deepEqual(from, IMPORTED.has(name) ? possible.slice(0, 1) : possible)
  }
}

function corefile(zone: string, clusters: string, more = ''): string {
  return `. {\n  kubernetes ${zone} {\n    cluster ${clusters}\n    ${more}\n  }\n}\n`
}

/**
 * The platform on this machine: Workers KV, R2, Analytics Engine and Durable Objects as wrangler
 * simulates them inside workerd. The one file that imports wrangler. Makes no calls to elsewhere.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleWorker } from '../../build/worker.ts'

/** What a Worker has bound beside its Durable Objects. */
export type Bindings = {
  readonly kv_namespaces?: { binding: string; id: string }[]
  readonly r2_buckets?: { binding: string; bucket_name: string }[]
  readonly analytics_engine_datasets?: { binding: string; dataset: string }[]
  readonly services?: { binding: string; service: string; entrypoint: string }[]
  /** Variables of this Worker only. */
  readonly vars?: Readonly<Record<string, string>>
}

/** A Worker that runs. */
export type PlatformWorker = {
  readonly fetch: typeof fetch
  /** The keys in its KV namespace or R2 bucket. */
  readonly blobKeys: () => Promise<string[]>
  /** The hashes of the shards in the Durable Object of a cluster. */
  readonly shardsOf: (cluster: string) => Promise<string[]>
}

/** Workers that run. */
export type Platform = {
  readonly worker: (name: string) => PlatformWorker
  /** Ends them all, and resolves when they are gone. */
  readonly stop: () => Promise<void>
}

/** The part of a KV namespace or R2 bucket that lists. */
type Listing = {
  list(): Promise<{ readonly keys?: { name: string }[]; readonly objects?: { key: string }[] }>
}
type Bound = { readonly SHARDS_KV?: Listing; readonly SHARDS_R2?: Listing }

const ENTRY = join(import.meta.dirname, 'platform-worker.ts')
/** What keeps wrangler from asking registries, telemetry and Cloudflare for anything. */
const SILENCE = {
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_LOG: 'none',
  WRANGLER_WRITE_LOGS: 'false',
  CI: 'true',
}

/** Starts Workers by their names, all with the same variables. */
export async function startPlatform(
  workers: Readonly<Record<string, Bindings>>,
  variables: Readonly<Record<string, string>>,
): Promise<Platform> {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-platform-'))
  // Read when the module is loaded.
  Object.assign(process.env, SILENCE)
  const { createTestHarness } = await import('wrangler')
  writeFileSync(join(folder, 'worker.js'), await bundleWorker(ENTRY))
  const names = Object.keys(workers)
  const harness = createTestHarness({
    root: folder,
    workers: names.map((name) => ({ config: configOf(name, workers[name] ?? {}, variables) })),
  })
  const stop = async (): Promise<void> => {
    await harness.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await harness.listen()
  } catch (error) {
    await stop()
    throw error
  }
  const worker = (name: string): PlatformWorker => {
    const handle = harness.getWorker<Bound>(name)
    return {
      fetch: async (input, init) => {
        const { method, url, headers, body } = new Request(input, init)
        const bytes = body === null ? null : await new Response(body).arrayBuffer()
        const response = await handle.fetch(url, { method, headers: [...headers], body: bytes })
        const { status } = response
        return new Response(await response.arrayBuffer(), {
          status,
          headers: [...response.headers],
        })
      },
      blobKeys: async () => {
        const { SHARDS_KV: kv, SHARDS_R2: bucket } = await handle.getEnv()
        const { keys = [], objects = [] } = (await (kv ?? bucket)?.list()) ?? {}
        return [...keys.map(({ name: key }) => key), ...objects.map(({ key }) => key)]
      },
      shardsOf: async (cluster) => {
        const any = harness.getWorker(name)
        const storage = await any.getDurableObjectStorage('CLUSTER', { name: cluster })
        const rows = await storage.exec('SELECT DISTINCT sha256 FROM shards')
        return rows.map((row) => String(row.sha256))
      },
    }
  }
  return { worker, stop }
}

function configOf(
  name: string,
  bindings: Bindings,
  vars: Readonly<Record<string, string>>,
): Bindings & { name: string; vars: Record<string, string> } & Fixed {
  return { ...FIXED, ...bindings, name, vars: { ...vars, ...bindings.vars } }
}

type Fixed = typeof FIXED
const FIXED = {
  compatibility_date: '2026-10-01',
  main: 'worker.js',
  no_bundle: true,
  durable_objects: {
    bindings: [
      { name: 'CLUSTER', class_name: 'ClusterObject' },
      { name: 'TOKENS', class_name: 'TokenObject' },
    ],
  },
  migrations: [{ tag: 'v1', new_sqlite_classes: ['ClusterObject', 'TokenObject'] }],
}

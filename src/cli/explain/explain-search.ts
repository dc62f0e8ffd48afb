/**
 * `kubedoh explain --from`: the names that a Pod tries for a name, and what each of them gets.
 * @module
 */

import { readDocuments } from '../../cluster/api/object-files.ts'
import { namesTried, type PodSearch, podSearch } from '../../cluster/objects/pod-search.ts'
import { listOf, recordOf, textOf } from '../../dns/bytes/unknown.ts'
import { parseName } from '../../dns/names/name.ts'
import { CommandError } from '../../server/node/output.ts'
import type { Input } from '../flags/flags.ts'

/** Explains the answer for an absolute name: the JSON of `/v1/explain`. */
export type AskFor = (name: string) => Promise<unknown>

const PLACE = /^([a-z0-9-]{1,63})(?:\/([a-z0-9.-]{1,253}))?$/
/** Time for reading a Pod from the API server. */
const READ_MS = 10_000

/**
 * Explains each name that a Pod tries, up to the first one with records of the type. Returns the
 * JSON of the last, or of one that has similar names, with the field `search`.
 * @throws {CommandError} for an invalid `--from`, and a Pod that cannot be read
 */
export async function explainSearch(input: Input, ask: AskFor): Promise<unknown> {
  const [name = ''] = input.args
  const search = await searchOf(input)
  const attempts: { readonly name: string; readonly found: Readonly<Record<string, unknown>> }[] =
    []
  for (const tried of namesTried(name, search)) {
    // A resolver skips a name that is too long.
    if (parseName(tried) === undefined) continue
    attempts.push({ name: tried, found: recordOf(await ask(tried)) })
    if (attempts.at(-1)?.found.reason === null) break
  }
  const last = attempts.at(-1)
  if (last === undefined) throw new CommandError(`"${name}" is not a domain name`)
  const wins = last.found.reason === null
  const hinted = attempts.find(({ found }) => listOf(recordOf(found.reason).didYouMean).length > 0)
  const shown = wins ? last : (hinted ?? attempts[0] ?? last)
  return {
    ...shown.found,
    search: {
      from: input.text('from'),
      ...search,
      attempts: attempts.map(({ name: tried, found }) => {
        const { code = null, text = null } = recordOf(found.reason)
        return { name: tried, status: found.status, code, text }
      }),
      answeredBy: wins ? last.name : null,
      misses: wins ? attempts.length - 1 : attempts.length,
    },
  }
}

async function searchOf(input: Input): Promise<PodSearch> {
  const text = input.text('from')
  const [, namespace, name] = PLACE.exec(text) ?? []
  if (namespace === undefined) {
    throw new CommandError(`--from "${text}" is not NAMESPACE or NAMESPACE/POD`)
  }
  const domain = `${input.text('cluster-domain').replace(/\.$/, '')}.`
  if (parseName(domain) === undefined) {
    throw new CommandError(`CLUSTER_DOMAIN "${domain}" is not a domain name`)
  }
  const pod = name === undefined ? undefined : await readPod(input, namespace, name)
  return podSearch(pod, namespace, domain)
}

async function readPod(input: Input, namespace: string, name: string): Promise<unknown> {
  const paths = input.texts('objects')
  if (paths.length === 0) return readLivePod(input, `/api/v1/namespaces/${namespace}/pods/${name}`)
  const found = paths.flatMap(readDocuments).find((value) => {
    const { kind, metadata } = recordOf(value)
    const own = recordOf(metadata)
    const isThere = (textOf(own.namespace) || 'default') === namespace
    return kind === 'Pod' && isThere && own.name === name
  })
  if (found !== undefined) return found
  throw new CommandError(`--from ${namespace}/${name}: no such Pod in ${paths.join(', ')}`)
}

async function readLivePod(input: Input, path: string): Promise<unknown> {
  const kubeconfig = input.text('kubeconfig')
  if (kubeconfig === '') {
    throw new CommandError('--from NAMESPACE/POD needs --kubeconfig or --objects to read the Pod')
  }
  const { openApi } = await import('../../cluster/follow/watch.ts')
  const api = openApi({ kind: 'kubeconfig', path: kubeconfig, context: undefined })
  const request = { method: 'GET', path, resource: 'pods' } as const
  return api.send(request, AbortSignal.timeout(READ_MS)).catch((error: unknown) => {
    throw new CommandError(`--from ${input.text('from')}: ${String(error)}`, { cause: error })
  })
}

/**
 * The object, rule and generation behind each record of a response.
 * @module
 */

import { formatName, lowerName } from '../../dns/names/name.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import type { ResourceRecord, Response } from '../../dns/wire/message.ts'
import { parseQuery, Query } from '../../dns/wire/query.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import { formatRecord } from '../../snapshot/records/zone-text.ts'
import type { Client } from '../contract/client.ts'
import type { Fact } from '../contract/fact.ts'
import type { Explainer } from '../contract/request.ts'

/** A record and its origin; `null` where none is known. */
export type ExplainedRecord = {
  readonly section: 'answer' | 'authority' | 'additional'
  readonly record: string
  /** The plugin with the name, else the last one that the query reached. */
  readonly plugin: string | null
  readonly object: string | null
  readonly rule: string | null
  readonly cluster: string | null
  readonly generation: number | null
}

/** A response, and the known facts about its names. */
type Explained = {
  readonly response: Response
  readonly facts: readonly Fact[]
  /** The plugins that know more names. */
  readonly explainers: readonly Explainer[]
  readonly client: Client
  readonly answeredBy: string | null
}

/** Names that are explained beside the query name; the records of others have no object. */
const NAMES_MAX = 64

/** Explains the records of a response. */
export async function explainRecords(
  query: Query,
  explained: Explained,
): Promise<readonly ExplainedRecord[]> {
  const { response, facts } = explained
  const known = new Map<string, Fact>()
  const learn = (name: string, fact: Fact | undefined): void => {
    if (fact !== undefined && !known.has(name)) known.set(name, fact)
  }
  const withNode = facts.filter(({ node }) => node != null)
  for (const fact of withNode) learn(fact.name, fact)
  // A plugin may have rewritten the query name, and the response has the client's.
  learn(formatName(query.name), withNode[0])
  const sections = (['answer', 'authority', 'additional'] as const).flatMap((section) =>
    response[section].map((record) => ({ section, record, owner: nameOf(record) })),
  )
  const others = new Set(sections.map(({ owner }) => owner).filter((name) => !known.has(name)))
  const owners = new Map(sections.map(({ owner, record }) => [owner, record.owner]))
  for (const name of [...others].slice(0, NAMES_MAX)) {
    const owner = owners.get(name)
    if (owner !== undefined) learn(name, await explainName(owner, explained))
  }
  return sections.map(({ section, record, owner }) => {
    return { section, ...describe(record, known.get(owner), explained.answeredBy) }
  })
}

function nameOf({ owner }: ResourceRecord): string {
  return formatName(lowerName(owner))
}

async function explainName(
  name: Uint8Array,
  { explainers, client }: Explained,
): Promise<Fact | undefined> {
  const query = parseQuery(writeQuery({ name, type: TYPE.ANY }), new Query())
  if (query.kind === 'refusal') return undefined
  for (const { explain } of explainers) {
    const found = (await explain?.(query, client))?.find(({ node }) => node != null)
    if (found !== undefined) return found
  }
  return undefined
}

function describe(
  record: ResourceRecord,
  fact: Fact | undefined,
  answeredBy: string | null,
): Omit<ExplainedRecord, 'section'> {
  const node = fact?.node
  const target =
    record.type === TYPE.PTR
      ? node?.targets?.find(({ name }) => name === formatName(record.rdata))
      : undefined
  return {
    record: formatRecord(record),
    plugin: fact?.plugin ?? answeredBy,
    object: (target ?? node)?.object ?? null,
    rule: record.type === TYPE.SOA ? 'zone' : (node?.rule ?? null),
    cluster: fact?.cluster ?? null,
    generation: fact?.generation ?? null,
  }
}

/**
 * The check of `kubedoh doctor --name`: whether all upstreams to which `forward` may send a name
 * answer it alike. A resolver that knows names of a company, beside one that does not, makes them
 * fail now and then.
 * @module
 */
import type { ServerBlock } from '../../corefile/server-block.ts'
import { formatName, isSubdomain, nameOf } from '../../dns/names/name.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'
import { formatType, TYPE } from '../../dns/names/rr-type.ts'
import type { Response } from '../../dns/wire/message.ts'
import { formatRdata } from '../../dns/wire/rdata-text.ts'
import { type ForwardOptions, parseForward } from '../../resolver/plugins/forward/options.ts'
import { upstreamName } from '../../resolver/plugins/forward/upstreams.ts'
import { readTextFile } from '../../server/node/read-files.ts'
import { askedProtocol, askOne } from './doctor-dns.ts'
import { type Finding, note, ok, problem } from './doctor-findings.ts'

const ARPA = nameOf('arpa.')
/** Records of an answer that are shown. */
const SHOWN_MAX = 4

/** What an upstream answers: records, or why there are none. */
type Answer = { readonly upstream: string; readonly kind: string; readonly text: string }

/** Checks the upstreams of each `forward` that may get the name. */
export async function checkName(
  blocks: readonly ServerBlock[],
  name: Uint8Array,
): Promise<Finding[]> {
  const forwards = forwardsOf(blocks, name)
  if (forwards.length === 0) {
    return [ok('name', `no forward of the Corefile takes ${formatName(name)}`)]
  }
  const types = isSubdomain(name, ARPA) ? [TYPE.PTR] : [TYPE.A, TYPE.AAAA]
  const checks = forwards.map(async (forward) => {
    const found = await Promise.all(types.map((type) => checkForward(forward, { name, type })))
    // One difference is enough: upstreams that know no A record know no AAAA record either.
    const different = found.flat().find(({ state }) => state !== 'ok')
    return different === undefined ? found.flat() : [different]
  })
  return (await Promise.all(checks)).flat()
}

/** Returns the directives of the blocks with the longest zone above the name that take it. */
function forwardsOf(blocks: readonly ServerBlock[], name: Uint8Array): ForwardOptions[] {
  const zoneSize = ({ keys }: ServerBlock): number =>
    Math.max(0, ...keys.map(({ zone }) => (isSubdomain(name, zone) ? zone.length : 0)))
  const longest = Math.max(1, ...blocks.map(zoneSize))
  return blocks
    .filter((block) => zoneSize(block) === longest)
    .flatMap(({ directives }) => directives.filter((one) => one.name === 'forward'))
    .map((directive) => parseForward(directive, readTextFile))
    .filter(
      ({ from, except }) =>
        isSubdomain(name, from) && !except.some((zone) => isSubdomain(name, zone)),
    )
}

/** Upstreams that do not answer have a finding of their own, and cost `forward` an attempt only. */
async function checkForward(
  { upstreams, protocol, policy }: ForwardOptions,
  { name, type }: { readonly name: Uint8Array; readonly type: number },
): Promise<Finding[]> {
  const asked = { name, type, protocol: askedProtocol(protocol) }
  const responses = await Promise.all(upstreams.map((upstream) => askOne(upstream, asked)))
  const answers = responses.flatMap((response, i): Answer[] => {
    const upstream = upstreams[i]
    if (upstream === undefined || typeof response === 'string') return []
    return [{ upstream: upstream.url ?? upstreamName(upstream), ...answerOf(response, type) }]
  })
  const question = `${formatName(name)} ${formatType(type)}`
  const [first] = answers
  if (first === undefined) return []
  if (answers.length === 1) {
    return [ok('name', `${first.upstream} answers ${first.text} to ${question}`)]
  }
  const all = answers.map(({ upstream, text }) => `${upstream} answers ${text}`).join('; ')
  if (answers.some(({ kind }) => kind !== first.kind)) {
    const text = `upstreams disagree about ${question}: ${all}`
    const next = 'remove upstreams that do not know the name, or give its domain a server block'
    if (policy !== 'sequential') return [problem('name', `${text}`, next)]
    return [note('name', text, `the first that answers decides; ${next}`)]
  }
  if (answers.some(({ text }) => text !== first.text)) {
    const next = 'usual for names with many addresses; else as if they disagreed'
    return [note('name', `upstreams differ in ${question}: ${all}`, next)]
  }
  return [ok('name', `${answers.length} upstreams answer ${question} alike: ${first.text}`)]
}

function answerOf({ rcode, answer }: Response, type: number): Omit<Answer, 'upstream'> {
  const records = answer.filter((record) => record.type === type)
  if (rcode !== RCODE.NOERROR || records.length === 0) {
    const kind = rcode === RCODE.NOERROR ? 'NODATA' : formatRcode(rcode)
    return { kind, text: kind }
  }
  const texts = records.map((record) => formatRdata(type, record.rdata)).sort()
  const more = texts.length > SHOWN_MAX ? ` and ${texts.length - SHOWN_MAX} more` : ''
  return { kind: 'records', text: `${texts.slice(0, SHOWN_MAX).join(', ')}${more}` }
}

/**
 * Translates directives and options that CoreDNS has removed, so that Corefiles of any version work
 * (github.com/coredns/coredns, notes/; github.com/coredns/corefile-migration lists the versions).
 * Adds a notice for everything it translates or leaves out.
 * @module
 */
import type { Steps } from '../dns/bytes/steps.ts'
import type { Position, Problem } from './problem.ts'
import type { Directive, Line, ServerBlock, Word } from './server-block.ts'

/** Server blocks without removed options, and a notice for each translation. */
export type Translation = {
  readonly blocks: ServerBlock[]
  readonly notices: readonly Problem[]
}

/** Translates removed options, a directive in each step. Keeps words that CoreDNS never had. */
export function* translateOldWords(blocks: readonly ServerBlock[]): Steps<Translation> {
  const notices: Problem[] = []
  const note: Note = ({ file, line, column }, message) => {
    notices.push({ file, line, column, message })
  }
  const translated: ServerBlock[] = []
  for (const block of blocks) {
    const directives: Directive[] = []
    for (const directive of block.directives) {
      directives.push(...translateDirective(directive, note))
      yield
    }
    translated.push({ ...block, directives })
  }
  return { blocks: translated, notices }
}

type Note = (at: Position, message: string) => void

/** The translation of a line: lines that replace it, and what is added elsewhere. */
type Outcome = {
  readonly lines: readonly Line[]
  readonly beside?: readonly Directive[]
  /** Arguments that are added to those of the directive. */
  readonly args?: readonly Word[]
}

/** Translates one line, whose first word is `option`. */
type Translate = (
  line: Line,
  option: Word,
  context: { readonly directive: Directive; readonly note: Note },
) => Outcome

const NOTHING: Outcome = { lines: [] }

const IDLE = dropped('has no effect in current CoreDNS')
const IDLE_UPSTREAM = dropped(
  'has no effect in current CoreDNS, which resolves names through the whole server',
)

/** Translations of removed options, by directive. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, Translate>>>> = {
  kubernetes: {
    upstream: dropped(
      'was removed in CoreDNS 1.7.0, which resolves names through the whole server',
    ),
    cidrs: asZones,
    autopath: dropped(
      'of "kubernetes" is a plugin since CoreDNS 1.0; write "autopath @kubernetes" beside it',
    ),
    resyncperiod: dropped('was removed in CoreDNS 1.7.0, which watches every change'),
    federation: dropped('was removed in CoreDNS 1.7.0; federation names get no answers'),
    transfer: asTransfer,
  },
  file: { upstream: IDLE_UPSTREAM, no_reload: asNoReload, transfer: asTransfer },
  auto: {
    upstream: IDLE_UPSTREAM,
    no_reload: asNoReload,
    transfer: asTransfer,
    directory: withoutTimeout,
  },
  secondary: { upstream: IDLE_UPSTREAM, transfer: asTransfer },
  etcd: { upstream: IDLE_UPSTREAM, stubzones: IDLE, debug: IDLE },
  template: { upstream: IDLE_UPSTREAM },
  route53: { upstream: IDLE_UPSTREAM },
  azure: { upstream: IDLE_UPSTREAM },
  clouddns: { upstream: IDLE_UPSTREAM },
  header: { set: asResponse, clear: asResponse },
  proxy: {
    policy: asForwardPolicy,
    except: (line) => ({ lines: [line] }),
    protocol: asForwardProtocol,
    fail_timeout: dropped('of "proxy" has no equivalent in "forward", which checks its upstreams'),
    max_fails: dropped('of "proxy" counts other failures than that of "forward"'),
    health_check: dropped('of "proxy" uses HTTP; "forward" sends a DNS query every 0.5 s'),
    spray: dropped('of "proxy" has no equivalent; "forward" tries one upstream if all are down'),
  },
}

/** Directives without an effect, and the reason. */
const DROPPED: ReadonlyMap<string, string> = new Map([
  ['federation', 'was removed in CoreDNS 1.7.0; federation names get no answers'],
  ['startup', 'was removed in CoreDNS 1.1.0; kubedoh runs no commands'],
  ['shutdown', 'was removed in CoreDNS 1.1.0; kubedoh runs no commands'],
  // Not removed, but OpenShift's own. It changes no answer.
  ['ocp_dnsnameresolver', 'updates DNSNameResolver objects, which kubedoh does not do'],
])

function translateDirective(directive: Directive, note: Note): Directive[] {
  const { name } = directive
  const reason = DROPPED.get(name)
  if (reason !== undefined) {
    note(directive, `"${name}" ${reason}; remove it`)
    return []
  }
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined
  if (options === undefined) return [directive]
  if (name === 'proxy') note(directive, '"proxy" was removed in CoreDNS 1.5.0; read as "forward"')
  const outcomes = directive.lines.map((line): Outcome => {
    const [option] = line.words
    const text = option?.text ?? ''
    const translate = Object.hasOwn(options, text) ? options[text] : undefined
    if (option === undefined || translate === undefined) return { lines: [line] }
    return translate(line, option, { directive, note })
  })
  return [
    {
      ...directive,
      name: name === 'proxy' ? 'forward' : name,
      args: [...directive.args, ...outcomes.flatMap(({ args = [] }) => args)],
      lines: outcomes.flatMap(({ lines }) => lines),
    },
    ...outcomes.flatMap(({ beside = [] }) => beside),
  ]
}

/** Returns a translation that ignores an option with a notice. */
function dropped(reason: string): Translate {
  return (_, option, { note }) => {
    note(option, `"${option.text}" ${reason}; ignored`)
    return NOTHING
  }
}

/** Translates `transfer to ADDRESS…` to the `transfer` plugin; keeps `transfer from`. */
function asTransfer(
  line: Line,
  option: Word,
  { directive, note }: { readonly directive: Directive; readonly note: Note },
): Outcome {
  const [, to, ...addresses] = line.words
  if (to?.text !== 'to' || addresses.length === 0) return { lines: [line] }
  note(
    option,
    `"transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" next to "${directive.name}"`,
  )
  const zones = directive.name === 'file' ? directive.args.slice(1) : directive.args
  const { file, line: at, column } = option
  const transfer = { file, line: at, column, name: 'transfer', args: zones }
  return { lines: [], beside: [{ ...transfer, lines: [{ words: [to, ...addresses], lines: [] }] }] }
}

function asZones(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  note(option, '"cidrs" was removed before CoreDNS 1.0; read as zones of "kubernetes"')
  return { lines: [], args: line.words.slice(1) }
}

function asNoReload(_: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  note(option, '"no_reload" was removed in CoreDNS 1.5.0; read as "reload 0"')
  return { lines: [lineOf(option, 'reload', '0')] }
}

/** Translates `directory DIR REGEXP TEMPLATE SECONDS`: the interval became an option. */
function withoutTimeout(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const seconds = line.words[4]
  if (seconds === undefined || !/^\d+$/.test(seconds.text)) return { lines: [line] }
  const reload = `${seconds.text}s`
  note(seconds, `the interval is an option since CoreDNS 1.5.0; read as "reload ${reload}"`)
  return {
    lines: [{ ...line, words: line.words.slice(0, 4) }, lineOf(option, 'reload', reload)],
  }
}

/** Translates `set ra` of `header` from the versions that changed responses only. */
function asResponse(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const rest = line.words.map(({ text }) => text).join(' ')
  note(
    option,
    `"${option.text}" needs "query" or "response" since CoreDNS 1.12.4; read as "response ${rest}"`,
  )
  return { lines: [{ ...line, words: [{ ...option, text: 'response' }, ...line.words] }] }
}

function asForwardPolicy(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const policy = line.words[1]
  if (policy?.text === 'first') {
    note(policy, '"first" of "proxy" is read as "sequential" of "forward"')
    return { lines: [lineOf(option, 'policy', 'sequential')] }
  }
  if (policy?.text === 'least_conn') {
    note(policy, '"least_conn" of "proxy" has no equivalent in "forward"; read as "random"')
    return { lines: [lineOf(option, 'policy', 'random')] }
  }
  return { lines: [line] }
}

/** Translates `protocol dns [force_tcp]`; leaves out other protocols. */
function asForwardProtocol(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const [, protocol, ...words] = line.words
  if (protocol?.text === 'https_google') {
    note(protocol, '"https_google" was removed in CoreDNS 1.2.0; queries are sent over DNS')
    return NOTHING
  }
  if (protocol?.text !== 'dns') {
    const named = protocol === undefined ? '"protocol"' : `"protocol ${protocol.text}"`
    const instead = 'of "proxy" has no equivalent in "forward"; queries are sent over DNS'
    note(protocol ?? option, `${named} ${instead}`)
    return NOTHING
  }
  return words.some(({ text }) => text === 'force_tcp')
    ? { lines: [lineOf(option, 'force_tcp')] }
    : NOTHING
}

function lineOf({ file, line, column }: Position, ...texts: readonly string[]): Line {
  return { words: texts.map((text) => ({ file, line, column, text })), lines: [] }
}

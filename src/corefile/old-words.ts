/**
 * Words that CoreDNS has given up, in today's: Corefiles from any version go on working
 * (github.com/coredns/coredns, notes/; github.com/coredns/corefile-migration says what came when).
 * Whatever is translated or left out gets a notice.
 * @module
 */
import type { Position, Problem } from './problem.ts'
import type { Directive, Line, ServerBlock, Word } from './server-block.ts'

/** Server blocks in today's words. */
export type Translation = {
  readonly blocks: ServerBlock[]
  readonly notices: readonly Problem[]
}

/** Puts all old words into today's. Words that were never CoreDNS's stay as they are. */
export function translateOldWords(blocks: readonly ServerBlock[]): Translation {
  const notices: Problem[] = []
  const note: Note = ({ file, line, column }, message) => {
    notices.push({ file, line, column, message })
  }
  return {
    blocks: blocks.map((block) => ({
      ...block,
      directives: block.directives.flatMap((directive) => translateDirective(directive, note)),
    })),
    notices,
  }
}

type Note = (at: Position, message: string) => void

/** What a line of a directive becomes: lines in its place, and directives beside its own. */
type Outcome = { readonly lines: readonly Line[]; readonly beside?: readonly Directive[] }

/** Translates one line, whose first word is `option`. */
type Translate = (
  line: Line,
  option: Word,
  context: { readonly directive: Directive; readonly note: Note },
) => Outcome

const NOTHING: Outcome = { lines: [] }

const IDLE = dropped('does nothing in CoreDNS today')
const IDLE_UPSTREAM = dropped(
  'does nothing in CoreDNS today: names are resolved through the whole server',
)

/** What is done to old options, by directive. */
const OPTIONS: Readonly<Record<string, Readonly<Record<string, Translate>>>> = {
  kubernetes: {
    upstream: dropped('is gone since CoreDNS 1.7.0: names are resolved through the whole server'),
    resyncperiod: dropped('is gone since CoreDNS 1.7.0: the API server tells of every change'),
    federation: dropped('is gone since CoreDNS 1.7.0: names of federations have no answers'),
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
    fail_timeout: dropped('of "proxy" has no equal in "forward", which looks after its upstreams'),
    max_fails: dropped('of "proxy" counts other failures than that of "forward"'),
    health_check: dropped('of "proxy" asks over HTTP; "forward" asks a question every 0.5 s'),
    spray: dropped('of "proxy" has no equal: when all upstreams are down, "forward" tries one'),
  },
}

/** Directives that are nothing today, and why. */
const DROPPED: ReadonlyMap<string, string> = new Map([
  ['federation', 'is gone since CoreDNS 1.7.0: names of federations have no answers'],
  ['startup', 'is gone since CoreDNS 1.1.0: no command is run'],
  ['shutdown', 'is gone since CoreDNS 1.1.0: no command is run'],
  // Not old, but OpenShift's own: its Corefiles have it, and it changes no answer.
  ['ocp_dnsnameresolver', 'keeps DNSNameResolver objects up to date, which is not done here'],
])

function translateDirective(directive: Directive, note: Note): Directive[] {
  const { name } = directive
  const reason = DROPPED.get(name)
  if (reason !== undefined) {
    note(directive, `"${name}" ${reason}; leave it out`)
    return []
  }
  const options = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined
  if (options === undefined) return [directive]
  if (name === 'proxy') note(directive, '"proxy" is gone since CoreDNS 1.5.0; read as "forward"')
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
      lines: outcomes.flatMap(({ lines }) => lines),
    },
    ...outcomes.flatMap(({ beside = [] }) => beside),
  ]
}

/** Leaves an option out. */
function dropped(reason: string): Translate {
  return (_, option, { note }) => {
    note(option, `"${option.text}" ${reason}; it is left out`)
    return NOTHING
  }
}

/** `transfer to ADDRESS…` became a plugin of its own; `transfer from` stays. */
function asTransfer(
  line: Line,
  option: Word,
  { directive, note }: { readonly directive: Directive; readonly note: Note },
): Outcome {
  const [, to, ...addresses] = line.words
  if (to?.text !== 'to' || addresses.length === 0) return { lines: [line] }
  note(
    option,
    `"transfer to" is a plugin since CoreDNS 1.8.0; read as "transfer" beside "${directive.name}"`,
  )
  const zones = directive.name === 'file' ? directive.args.slice(1) : directive.args
  const { file, line: at, column } = option
  const transfer = { file, line: at, column, name: 'transfer', args: zones }
  return { lines: [], beside: [{ ...transfer, lines: [{ words: [to, ...addresses], lines: [] }] }] }
}

function asNoReload(_: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  note(option, '"no_reload" is gone since CoreDNS 1.5.0; read as "reload 0"')
  return { lines: [lineOf(option, 'reload', '0')] }
}

/** `directory DIR REGEXP TEMPLATE SECONDS`: the time became an option. */
function withoutTimeout(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const seconds = line.words[4]
  if (seconds === undefined || !/^\d+$/.test(seconds.text)) return { lines: [line] }
  const reload = `${seconds.text}s`
  note(seconds, `the time is an option of its own since CoreDNS 1.5.0; read as "reload ${reload}"`)
  return {
    lines: [{ ...line, words: line.words.slice(0, 4) }, lineOf(option, 'reload', reload)],
  }
}

/** `set ra` of `header`, when it was for responses only. */
function asResponse(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const rest = line.words.map(({ text }) => text).join(' ')
  note(
    option,
    `"${option.text}" needs to say of what since CoreDNS 1.12.4; read as "response ${rest}"`,
  )
  return { lines: [{ ...line, words: [{ ...option, text: 'response' }, ...line.words] }] }
}

function asForwardPolicy(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const policy = line.words[1]
  if (policy?.text === 'first') {
    note(policy, '"first" of "proxy" is "sequential" of "forward"')
    return { lines: [lineOf(option, 'policy', 'sequential')] }
  }
  if (policy?.text === 'least_conn') {
    note(policy, '"least_conn" of "proxy" has no equal in "forward"; read as "random"')
    return { lines: [lineOf(option, 'policy', 'random')] }
  }
  return { lines: [line] }
}

/** `protocol dns [force_tcp]`; what else there was stays, to be refused. */
function asForwardProtocol(line: Line, option: Word, { note }: { readonly note: Note }): Outcome {
  const [, protocol, ...words] = line.words
  if (protocol?.text === 'https_google') {
    note(protocol, '"https_google" is gone since CoreDNS 1.2.0; the upstreams are asked by DNS')
    return NOTHING
  }
  if (protocol?.text !== 'dns') return { lines: [line] }
  return words.some(({ text }) => text === 'force_tcp')
    ? { lines: [lineOf(option, 'force_tcp')] }
    : NOTHING
}

function lineOf({ file, line, column }: Position, ...texts: readonly string[]): Line {
  return { words: texts.map((text) => ({ file, line, column, text })), lines: [] }
}

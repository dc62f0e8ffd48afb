/**
 * The lines of a program's log as text, and as CoreDNS writes them.
 * @module
 */
import { escapeControls } from '../../dns/bytes/escape-controls.ts'
import { parseRcode } from '../../dns/names/rcode.ts'
import { formatLogEvent, type LogEvent, type LogFormat } from '../../dns/telemetry/log.ts'

/**
 * Formats an event without a line break: `TIME LEVEL plugin/NAME: MESSAGE FIELD=VALUE …` as `text`,
 * `[LEVEL] plugin/NAME: MESSAGE FIELD=VALUE …` as `coredns`. There, those of `errors` have the
 * order of CoreDNS (plugin/errors/errors.go): RCODE, name and type come before the reason.
 */
export function formatEvent(event: LogEvent, timeMs: number, format: LogFormat): string {
  if (format === 'json') return formatLogEvent(event, timeMs)
  const { level, message, plugin, ...fields } = event
  const source = plugin === undefined ? '' : `plugin/${plugin}: `
  if (format === 'text') {
    const line = `${source}${message}${formatFields(fields)}`
    return `${new Date(timeMs).toISOString()} ${level} ${escapeControls(line)}`
  }
  const { rcode, name, type, ...others } = fields
  const code = plugin === 'errors' && typeof rcode === 'string' ? parseRcode(rcode) : undefined
  const line =
    code === undefined
      ? `${source}${message}${formatFields(fields)}`
      : `${source}${code} ${name} ${type}: ${message}${formatFields(others)}`
  return `[${level.toUpperCase()}] ${escapeControls(line)}`
}

function formatFields(fields: Readonly<Record<string, LogEvent[string]>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${isPlain(value) ? value : JSON.stringify(value)}`)
    .join('')
}

function isPlain(value: LogEvent[string]): boolean {
  return typeof value !== 'string' || /^[^\s"=]+$/.test(value)
}

const LEVELS: ReadonlyMap<string, LogEvent['level']> = new Map([
  ['DEBUG', 'debug'],
  ['WARNING', 'warning'],
  ['ERROR', 'error'],
])

/** Parses a line of CoreDNS: `[LEVEL] plugin/NAME: TEXT` or `[LEVEL] TEXT`. */
export function parseLogLine(line: string): LogEvent {
  const [, level = '', plugin, message = line] =
    /^\[([A-Z]+)\] (?:plugin\/([\w-]+): )?(.*)$/s.exec(line) ?? []
  return { level: LEVELS.get(level) ?? 'info', message, ...(plugin !== undefined && { plugin }) }
}

/**
 * Types and classes as CoreDNS writes them in logs, tags and templates
 * (`Type.String` and `Class.String` of github.com/miekg/dns).
 * @module
 */
import { CLASS, formatClass } from '../../dns/names/rr-class.ts'
import { formatType } from '../../dns/names/rr-type.ts'

/** Formats a type; 0 is `None` and 65535 is `Reserved`. */
export function typeText(type: number): string {
  return { 0: 'None', 65535: 'Reserved' }[type] ?? formatType(type)
}

/** Formats a class; `ANY` also is the name of a type, so the class is `CLASS255`. */
export function classText(value: number): string {
  return value === CLASS.ANY ? 'CLASS255' : formatClass(value)
}

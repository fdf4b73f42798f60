/** Names of objects that an API server accepts: a DNS subdomain (RFC 1123 section 2.1). */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export function isObjectName(text: string): boolean {
  return text.length <= 253 && SUBDOMAIN.test(text);
}

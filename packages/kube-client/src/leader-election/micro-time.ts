/** RFC 3339 with six digits, as Leases have it. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

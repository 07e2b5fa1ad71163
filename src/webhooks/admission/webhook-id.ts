/** The URL segment of a webhook: its name in lower case, with dashes for characters that URLs do not allow. */
export function webhookId(name: string): string {
  return name
    .replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)
    .replaceAll(/[^a-z0-9/-]/g, '-')
    .replaceAll(/-+/g, '-');
}

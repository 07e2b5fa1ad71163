/** The part of a URL that stands for a webhook: its name in lower case, with dashes for what URLs do not take. */
export function webhookId(name: string): string {
  return name
    .replaceAll(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`)
    .replaceAll(/[^a-z0-9/-]/g, '-')
    .replaceAll(/-+/g, '-');
}

import { parseCrontab } from '@addon-operator/crontab';

const at = (text: string | undefined): void => console.log(text);
const next = (crontab: string, from: string, zone = 'UTC'): string | undefined => {
  const time = parseCrontab(crontab, zone).next(Date.parse(from));
  return time === undefined ? undefined : new Date(time).toISOString();
};

at(next('*/15 * * * *', '2026-03-01T10:07:00Z'));
at(next('TZ=Europe/Berlin 30 2 * * *', '2026-03-28T12:00:00Z'));
at(next('@every 1h30m', '2026-03-01T10:00:00Z'));
at(next('0 0 30 2 *', '2026-03-01T10:00:00Z'));

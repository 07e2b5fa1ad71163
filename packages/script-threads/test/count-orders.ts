// oxlint-disable-next-line import/no-default-export -- it is what a thread runs
export default function total(orders: readonly number[]): number {
  if (orders.length === 0) throw new RangeError('there are no orders');
  if (orders.length > 2) for (;;);
  return orders.reduce((sum, price) => sum + price, 0);
}

"""Users of Oscar with orders and lists of wishes."""

from oscar.core.loading import get_model
from oscar.test.factories import UserFactory, create_order, create_product

users = [UserFactory() for _ in range(10)]
products = [create_product(num_in_stock=100) for _ in range(10)]
for number in range(20):
    user = users[number % len(users)]
    create_order(number=f"sample-{number}", user=user)
    wishes = get_model("wishlists", "WishList").objects.create(owner=user, name=str(number))
    wishes.add(products[number * 3 % len(products)])

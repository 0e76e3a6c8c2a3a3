"""A project's code, in which a comment names the kind of finding of each line that has one."""

MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=20)

    def number(self):
        return f"C{self.pk:05d}"  # number


class Order(models.Model):
    buyer = models.ForeignKey(Customer, models.CASCADE)
    customer_id = models.IntegerField(null=True)
    country_id = models.IntegerField(default=1)
    recommended_customer_ids = models.CharField(max_length=50, default="1,2")
    extra = models.JSONField(default=dict)
    words = models.TextField(default="no JSON: customer_id")
    referrer = models.CharField(max_length=9, default="1")
    pk_of_other = models.IntegerField(default=1)

    def number(self):
        return f"O{self.pk:05d}"


class Country(models.Model):
    code = models.CharField(max_length=2, primary_key=True)


class Rating(models.Model):
    customer_id = models.IntegerField(null=True)
    order = models.ForeignKey(Order, models.CASCADE)
"""
ROWS = """
from depot.models import Customer, Order, Rating

for number in range(1, 4):
    customer = Customer.objects.create(name=f"customer {number}")
    extra = {"items": [{"customer_id": number}], "customer": {"id": number}, "order_id": 5}
    order = Order.objects.create(buyer=customer, customer_id=number, extra=extra)
    Rating.objects.create(customer_id=1000 + number, order=order)
"""
CODE = '''
"""SELECT id FROM depot_customer is a docstring."""

import json
import logging

from django import forms
from django.core import signing
from django.core.cache import cache, caches
from django.db import connection, models
from django.http import HttpResponse
from django.views.generic import DetailView, ListView

from .models import Country, Customer, Order
from .tasks import greet, order_placed


class CustomerForm(forms.Form):
    customer_id = forms.IntegerField()  # input
    id = forms.IntegerField()  # input
    order_id = forms.IntegerField()
    quantity = forms.IntegerField()


class CustomerPage(DetailView):
    model = Customer


class OrderPage(DetailView):
    model = Order


def numbers(request, customer, order, pk, customer_id, order_id):
    int(customer.pk)  # number
    int(order.buyer.id)  # number
    int(order.buyer_id)  # number
    int(request.GET["customer_id"])  # number
    int(request.GET.get("customer_id", 0))  # number
    int(request.GET.get("page", customer.pk))  # number
    int(str(pk))  # number
    int(order.pk), int(order_id), int(request.GET["page"]), int(order.id)
    new_customer_id = int(request.GET["c"])  # number
    customer_ids = [int(each) for each in request.GET.getlist("c")]  # number
    Customer.objects.filter(name="a", pk=int(request.GET["c"]))  # number
    Order.objects.filter(pk=int(request.GET["c"]))
    {"buyer_id": int(request.GET["c"])}  # number
    {"page": int(request.GET["c"])}
    isinstance(customer.id, int)  # number
    isinstance(customer.id, (int, str))  # number
    isinstance(customer.id, str)
    type(customer.id) is int  # number
    request.GET["customer_id"].isdigit()  # number
    request.GET["q"].isdigit()
    "%05d" % customer.pk  # number
    "%s, %d" % (customer.name, customer.pk)  # number
    "%d, %s" % (len(customer.name), customer.pk)
    "%(a)d %(b)s" % {"a": customer.pk, "b": 1}  # number
    "%(a)d %(b)s" % {"b": customer.pk, "a": 1}
    "{:03d}".format(customer.pk)  # number
    f"{customer.pk:>10}"
    logging.info("customer %d", customer.pk)  # number
    logging.info("customer %s", customer.pk)
    customer.pk + 1  # number
    1000 - customer_id  # number
    customer.pk > 0  # number
    order.pk + 1, order.pk > 0


def constants(customer, order):
    Customer.objects.get(pk=1)  # constant
    Customer.objects.filter(name="a").get(id=1)  # constant
    Order.objects.get(pk=1)
    Order.objects.filter(buyer_id=1)  # constant
    if customer.pk in (1, 2) or customer.pk == 3:  # constant
        return order.pk == 3


def uses(request, customer, order, customer_ids):
    request.session["customer"] = customer.pk  # session
    request.session["customer_id"]  # session
    request.session.get("last_customer_id")  # session
    request.session[f"seen {customer.pk}"] = True  # session
    request.session["order"] = order.pk
    greet.delay(customer.pk)  # task
    greet.apply_async(args=[customer.pk])  # task
    greet.apply_async(kwargs={"customer_id": customer_ids})  # task
    greet.delay(customer.name)
    order_placed.send(sender=Order, customer_id=customer.pk)
    signing.dumps({"customer": customer.pk})  # signed
    signing.Signer().sign(customer.pk)  # signed
    json.dumps({"id": customer.pk})  # json
    json.dumps({"id": customer.pk}, default=str)
    json.dumps({"id": str(order.pk)})
    cache.get(f"customer:{customer.pk}")  # cache
    caches["pages"].set("customer:%s" % customer.pk, 1)  # cache
    cache.get("customers")


SQL = """  # sql
    SELECT name FROM "depot_customer" WHERE id = %s
"""
COUNT = "SELECT COUNT(*) FROM depot_customer"
OTHER = "SELECT id FROM depot_order"


def statements(cursor):
    Order.objects.extra(where=["buyer_id = 1"])  # sql
    Customer.objects.raw("SELECT c.id FROM depot_customer c")  # sql
    cursor.execute("UPDATE depot_order SET buyer_id = 1")  # sql
    cursor.execute("UPDATE depot_order SET country_id = 1")
'''
TEMPLATE = """
<a href="/customers/{{ customer.pk }}/" id="customer-{{ customer.pk }}">{{ customer.pk }}</a>
{{ customer.pk|add:1 }} <!-- template -->
{{ order.pk|add:1 }}
{% if customer.pk == 1 %}{% endif %} <!-- template -->
{% if customer.name == 1 %}{% endif %}
<button onclick="show({{ customer.pk }})"></button> <!-- template -->
<script>
  const customer = {{ customer.pk }}; // template
  const text = "{{ customer.pk }}", url = '/customers/({{ customer.pk }})';
  const order = {{ order.pk }};
</script>
"""
URLS = r"""
from django.urls import include, path, re_path

from depot import views

orders = [
    path("<int:pk>/", views.OrderPage.as_view()),
]
urlpatterns = [
    path("customers/<int:pk>/", views.CustomerPage.as_view()),  # url
    re_path(r"^old/(?P<pk>\d+)/$", views.CustomerPage.as_view()),  # url
    path("texts/<str:pk>/", views.CustomerPage.as_view()),
    path("by/<int:customer_id>/", views.numbers),  # url
    path("notes/<int:note_id>/", views.numbers),  # url
    path("orders/<int:order_id>/", views.numbers),
    path("years/<int:year>/", views.numbers),
    path("list/", include(orders)),
]
"""
SETTINGS = """
ROOT_URLCONF = "urls"
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
DEFAULT_CUSTOMER_ID = 1  # setting
DEFAULT_ORDER_ID = 1
CUSTOMER_ID_HEADER = "X-Customer"
"""
TASKS = """
greet = order_placed = None
"""

"""django-guardian: permissions of single objects, for keys of every storage."""

import pytest
from django.contrib.auth.models import Group, User
from guardian import shortcuts
from guardian.core import ObjectPermissionChecker
from guardian.models import UserObjectPermission

from .shop.models import KEYS

pytestmark = pytest.mark.django_db


@pytest.fixture(params=KEYS, ids=lambda model: model.__name__)
def objects(request):
    return [request.param.objects.create() for _ in range(3)]


@pytest.fixture
def user():
    return User.objects.create(username="ada")


def view(model):
    return f"shop.view_{model._meta.model_name}"


def test_objects_for_a_user(objects, user):
    model = type(objects[0])
    shortcuts.assign_perm(view(model), user, objects[1])
    assert list(shortcuts.get_objects_for_user(user, view(model))) == [objects[1]]
    assert list(shortcuts.get_objects_for_user(user, view(model), model)) == [objects[1]]
    of_two = model.objects.filter(pk__in=[objects[0].pk, objects[1].pk])
    assert list(shortcuts.get_objects_for_user(user, view(model), of_two)) == [objects[1]]
    without = model.objects.exclude(pk=objects[1].pk)
    assert list(shortcuts.get_objects_for_user(user, view(model), without)) == []
    assert user.has_perm(view(model), objects[1])
    assert not user.has_perm(view(model), objects[0])


def test_objects_for_a_group(objects, user):
    model = type(objects[0])
    group = Group.objects.create(name="readers")
    user.groups.add(group)
    shortcuts.assign_perm(view(model), group, objects[2])
    assert list(shortcuts.get_objects_for_group(group, view(model))) == [objects[2]]
    assert list(shortcuts.get_objects_for_user(user, view(model))) == [objects[2]]
    assert list(shortcuts.get_objects_for_user(user, view(model), use_groups=False)) == []


def test_permissions_of_many_objects_at_once(objects, user):
    model = type(objects[0])
    shortcuts.assign_perm(view(model), user, model.objects.all())
    shortcuts.remove_perm(view(model), user, model.objects.filter(pk=objects[0].pk))
    checker = ObjectPermissionChecker(user)
    checker.prefetch_perms(model.objects.all())
    assert [bool(checker.get_perms(each)) for each in objects] == [False, True, True]
    assert list(shortcuts.get_users_with_perms(objects[1])) == [user]


def test_a_permission_for_something_else_hurts_nobody(objects, user):
    model = type(objects[0])
    for each in objects[:2]:
        shortcuts.assign_perm(view(model), user, each)
    if not model._meta.pk.get_internal_type().startswith("UUID"):
        UserObjectPermission.objects.filter(object_pk=str(objects[0].pk)).update(object_pk="gone")
        objects = objects[1:]
    assert objects[0] in shortcuts.get_objects_for_user(user, view(model))

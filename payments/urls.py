"""Where callbacks come in; both slash forms, so that none is ever redirected."""

from django.urls import re_path

from payments.views import CallbackView

urlpatterns = [
    re_path(
        r"^callbacks/(?P<provider>[a-z0-9_-]{1,40})/(?P<account>[A-Za-z0-9_-]{1,60})/?$",
        CallbackView.as_view(),
        name="callback",
    ),
]

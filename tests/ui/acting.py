"""What a visitor does on a page in a test of it: press, type, choose."""

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Slider


def run(app: AppTest) -> AppTest:
    """Run the app's script again and return it; a page may never show an exception."""
    app.run()
    assert not app.exception, app.exception
    return app


def labels(app: AppTest) -> list[str]:
    """Return the labels of the page's buttons, from top to bottom."""
    return [button.label for button in app.button]


def can_press(app: AppTest, label: str) -> bool:
    """Return whether the page's first button of that label can be pressed."""
    return next(not button.disabled for button in app.button if button.label == label)


def number(app: AppTest, label: str) -> NumberInput:
    """Return the number field of that label."""
    return next(field for field in app.number_input if field.label == label)


def chosen(app: AppTest, label: str) -> list[str]:
    """Return what a list holds."""
    return list(next(field for field in app.multiselect if field.label == label).value)


def press(app: AppTest, label: str) -> AppTest:
    """Press the first button of that label and return the app."""
    button = next(button for button in app.button if button.label == label)
    assert not button.disabled, f"{label} is disabled"
    button.click()
    return run(app)


def press_first(app: AppTest, start: str) -> AppTest:
    """Press the first button whose label begins so and return the app."""
    return press(app, next(label for label in labels(app) if label.startswith(start)))


def undo(app: AppTest) -> AppTest:
    """Take the last step back, whatever its button says that it was, and return the app."""
    return press_first(app, "Undo")


def type_number(app: AppTest, label: str, value: int) -> AppTest:
    """Type a number into a field and return the app."""
    number(app, label).set_value(value)
    return run(app)


def slider(app: AppTest, label: str) -> Slider[int]:
    """Return the slider with that label."""
    return next(slider for slider in app.slider if slider.label == label)


def pull(app: AppTest, label: str, value: int) -> AppTest:
    """Move a slider and return the app."""
    slider(app, label).set_value(value)
    return run(app)


def type_text(app: AppTest, label: str, value: str) -> AppTest:
    """Type into a text field and return the app."""
    fields = [*app.text_input, *app.text_area]
    next(field for field in fields if field.label == label).set_value(value)
    return run(app)


def choose(app: AppTest, label: str, *values: str) -> AppTest:
    """Choose exactly these labels in a list and return the app."""
    next(field for field in app.multiselect if field.label == label).set_value(list(values))
    return run(app)


def choose_more(app: AppTest, name: str) -> AppTest:
    """Choose what the menu of the navigation offers and return the app."""
    [menu] = app.menu_button
    menu.click(name)
    return run(app)


def pick(app: AppTest, label: str, value: object) -> AppTest:
    """Choose one of a list or of a few and return the app."""
    result = next(field for field in [*app.radio, *app.selectbox] if field.label.startswith(label))
    result.set_value(value)
    return run(app)

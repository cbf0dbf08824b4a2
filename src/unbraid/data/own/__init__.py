"""People's own data: arrays, tables, folders of images and files of many kinds."""
